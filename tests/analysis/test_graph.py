"""The neighbourhood of an op: xprof's neighbours, every edge of a program, DOT and HLO text other tools can read."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import xprof_nb as xp
from tests.analysis.captured import captured
from tests.formats.hlo_messages import chained_proto, parsed, program_of, proto_of, small_proto
from tests.xprof_oracle import ask_xprof
from tests.xspace_builder import SpaceBuilder
from xprof_nb.analysis.graph import MOST_NEIGHBOURS, MOST_NODES, neighbours
from xprof_nb.analysis.graph_export import text
from xprof_nb.errors import UsageError
from xprof_nb.formats.hlo_schema import message_class
from xprof_nb.model.program import Program

NESTED = """
HloModule jit_f

inner (x: f32[8]) -> f32[8] {
  x = f32[8]{0} parameter(0)
  ROOT deep = f32[8]{0} negate(x)
}

body (y: f32[8]) -> f32[8] {
  y = f32[8]{0} parameter(0)
  ROOT twice = f32[8]{0} call(y), to_apply=inner
}

condition (z: f32[8]) -> pred[] {
  z = f32[8]{0} parameter(0)
  ROOT more = pred[] constant(false)
}

ENTRY main (p: f32[8]) -> f32[8] {
  p = f32[8]{0} parameter(0)
  ROOT loop = f32[8]{0} while(p), condition=condition, body=body
}
"""


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return captured(tmp_path_factory.mktemp("planned"), "planned")


def xplane(folder: Path) -> Path:
    (found,) = folder.glob("plugins/profile/*/*.xplane.pb")
    return found


def main_program(profile: xp.Profile, name: str) -> Program:
    (program,) = [program for program in profile.programs.values() if program.name == name]
    return program


def every_edge(program: Program, ops: set[str]) -> list[list[Any]]:
    return sorted(
        [operand, name, number]
        for name in ops
        for number, operand in enumerate(program.instructions[name].operands)
        if operand in ops
    )


def edges_of(result: Any) -> list[list[Any]]:
    return sorted(edge[:3] for edge in result.summary["edges"])


@pytest.mark.parametrize(("folder", "name"), [("tpu-v6e-psum", "jit_f"), ("mi350-te-attention", "jit_loss_fn")])
def test_neighbours_are_xprofs(folder: str, name: str, corpus: Path) -> None:
    are_xprofs(xplane(corpus / folder), name)


def test_neighbours_are_xprofs_on_a_cpu(planned: Path) -> None:
    are_xprofs(xplane(planned), "jit_kept")


def are_xprofs(file: Path, name: str) -> None:
    profile = xp.open(file)
    program = main_program(profile, name)
    entry = [each.name for each in program.computations[program.entry].instructions]
    for op in entry[:: max(1, len(entry) // 12)]:
        if program.instructions[op].opcode == "get-tuple-element":
            continue
        module = f"{name}({program.id})"
        options = {"module_name": module, "node_name": op, "type": "adj_nodes"}
        theirs = ask_xprof(file, "graph_viewer", graph_viewer_options=options)
        operands, users = neighbours(program, op)
        assert set(operands) == looked_through(program, theirs["operand_names"], side=0)
        assert set(users) == looked_through(program, theirs["consumer_names"], side=1)
        result = profile.graph(program=program.id, op=op, radius=1)
        assert (result.summary["operands"], result.summary["users"]) == (operands, users)
        direct = {edge[0] for edge in result.summary["edges"] if edge[1] == op}
        assert direct == set(program.instructions[op].operands)


def looked_through(program: Program, names: list[str], side: int) -> set[str]:
    """Look through get-tuple-elements that xprof, which goes by the name, did not know for one."""
    found: set[str] = set()
    for name in names:
        unknown = program.instructions[name].opcode == "get-tuple-element"
        found |= set(neighbours(program, name)[side]) if unknown else {name}
    return found


def test_the_radius_counts_edges_in_either_direction(tmp_path: Path) -> None:
    profile = opened(tmp_path, ladder(10))
    for radius in range(4):
        frame = profile.graph(op="a5", radius=radius).frame
        expected = {f"a{5 + step}": abs(step) for step in range(-radius, radius + 1)}
        assert dict(zip(frame["op"], frame["distance"], strict=True)) == expected
    assert profile.graph(op="a5").summary["radius"] == 2


def test_thirty_ops_are_thirty_nodes_with_the_same_edges(tmp_path: Path) -> None:
    profile = opened(tmp_path, ladder(28))
    program = profile.programs[1]
    whole = profile.graph(op="main")
    assert len(whole.frame) == len(program.instructions) == 30
    assert edges_of(whole) == every_edge(program, set(program.instructions))
    assert edges_of(profile.graph(op="a14", radius=20)) == edges_of(whole)
    nodes, edges = dot_graph(whole.to_dot())
    assert len(nodes) == 30
    names = [label.split("\n")[0] for label in nodes.values()]
    assert sorted(names) == sorted(program.instructions)
    ids = {name: number for number, name in zip(nodes, names, strict=True)}
    assert sorted(edges) == sorted((ids[origin], ids[target]) for origin, target, *_ in whole.summary["edges"])


@pytest.mark.parametrize("folder", ["tpu-v6e-psum", "mi350-te-attention"])
def test_every_edge_between_shown_ops_is_there(folder: str, corpus: Path) -> None:
    profile = xp.open(xplane(corpus / folder))
    for program in profile.programs.values():
        result = profile.graph(program=program.id, radius=3)
        outer = set(result.frame.loc[result.frame["inside"].isna(), "op"])
        assert edges_of(result) == every_edge(program, set(result.frame["op"]))
        assert {program.instructions[op].computation for op in outer} == {result.summary["computation"]}
        dot_graph(result.to_dot())
        json.dumps(result.summary, allow_nan=False)


def test_what_is_fused_is_inside_its_fusion_and_what_ran_has_its_numbers(corpus: Path) -> None:
    profile = xp.open(corpus / "tpu-v6e-psum")
    result = profile.graph(program="jit_f", op="broadcast_add_fusion.2", radius=1)
    frame = result.frame.set_index("op")
    program = main_program(profile, "jit_f")
    (body,) = program.instructions["broadcast_add_fusion.2"].called
    inner = frame[frame["inside"] == "broadcast_add_fusion.2"]
    assert set(inner.index) == {each.name for each in program.computations[body].instructions}
    assert inner["time_ps"].isna().all()
    table = (
        profile.ops(program="jit_f").frame.groupby("op")[["time_ps", "self_time_ps", "flops", "bytes_accessed"]].sum()
    )
    for name in ("broadcast_add_fusion.2", "copy-done"):
        assert (
            frame.loc[name, ["time_ps", "self_time_ps"]].tolist()
            == table.loc[name, ["time_ps", "self_time_ps"]].tolist()
        )
    assert frame.loc["broadcast_add_fusion.2", "flops"] == table.loc["broadcast_add_fusion.2", "flops"]
    assert "ran 400 times" in result.summary["sentence"]
    one = profile.graph(program="jit_f", op="broadcast_add_fusion.2", device="TPU:0").frame
    assert one.loc[0, "occurrences"] == 100


def test_without_an_op_it_is_about_the_most_expensive(planned: Path, tmp_path: Path) -> None:
    profile = xp.open(planned)
    ops = profile.ops().frame
    total = ops.groupby("program")["self_time_ps"].sum()
    busiest = ops[ops["program"] == total.idxmax()].groupby("op")["self_time_ps"].sum().idxmax()
    result = profile.graph()
    assert (result.summary["program"], result.summary["center"]) == (total.idxmax(), busiest)
    assert "program= also takes" in result.notes[-1]
    assert opened(tmp_path, ladder(3)).graph().summary["center"] == "a2"


def test_an_unknown_op_names_what_comes_close(planned: Path) -> None:
    profile = xp.open(planned)
    with pytest.raises(UsageError, match=r"no op 'tupel.1' in jit_kept.*Close: tuple"):
        profile.graph(program="jit_kept", op="tupel.1")
    with pytest.raises(UsageError, match="no program 'jit_other'"):
        profile.graph(program="jit_other")


def test_an_op_is_found_in_the_program_and_on_the_host_it_is_asked_of(tmp_path: Path) -> None:
    for number, host in enumerate(("first", "second"), 1):
        space = SpaceBuilder(host)
        plane = space.plane("/device:TPU:0")
        plane.metadata("%a1 = f32[] negate()", {"program_id": number, "symbol_id": 1, "hlo_category": "x"}, "a1")
        plane.line("XLA Ops").event("%a1 = f32[] negate()", 0, 10 * number)
        space.hlo({f"jit_{host}({number})": ladder(2 + number)})
        space.write(tmp_path / "plugins" / "profile" / "run")
    profile = xp.open(tmp_path)
    for number, host in enumerate(("first", "second"), 1):
        result = profile.graph(program=number, op="a1", host=host)
        assert result.summary["program"] == f"jit_{host}"
        assert result.frame.loc[0, "time_ps"] == 10 * number
    other = profile.graph(program=1, op="a1", host="second").frame
    assert other["time_ps"].isna().all()


def test_very_many_users_are_cut_and_said(tmp_path: Path) -> None:
    profile = opened(tmp_path, fan(3000))
    result = profile.graph(op="p", radius=1)
    assert len(result.frame) == 1 + MOST_NEIGHBOURS
    assert result.summary["cut"] == [{"node": "p", "operand_count": 0, "user_count": 3000 - MOST_NEIGHBOURS}]
    assert f"{3000 - MOST_NEIGHBOURS:,} users of p are left out" in result.notes[0]
    assert len(profile.graph(op="a7", radius=20).frame) <= MOST_NODES
    whole = profile.graph(op="main")
    assert len(whole.frame) == MOST_NODES
    assert whole.summary["computation_op_count"] == 3001


def test_names_and_paths_cannot_break_out_of_dot(tmp_path: Path) -> None:
    message = small_proto()
    evil = 'x"]; evil [label="\\N\n\\"'
    instruction = message.hlo_module.computations[0].instructions[0]
    instruction.name = evil
    instruction.metadata.op_name = 'a\\"\u202e]; "'
    content = message.SerializeToString()
    written = opened(tmp_path, content).graph().to_dot(tmp_path / "graph.dot")
    assert written is None
    nodes, edges = dot_graph((tmp_path / "graph.dot").read_text("utf-8"))
    assert (len(nodes), len(edges)) == (2, 2)
    assert any(label.startswith('x"]; evil [label="\\N\ufffd\\"') for label in nodes.values())


@pytest.mark.parametrize("is_long", [False, True])
def test_xla_reads_our_text_of_every_program(is_long: bool, corpus: Path, planned: Path) -> None:
    folders = [corpus / name for name in ("tpu-v6e-psum", "mi300x-jax-conv", "mi350-te-attention")]
    for folder in (*folders, planned):
        for program in xp.open(folder).programs.values():
            again = program_of(parsed(text(program, is_long)))
            assert facts(again) == facts(program)
            assert set(again.computations) == set(program.computations)


def facts(program: Program) -> dict[str, tuple[Any, ...]]:
    return {
        name: (each.opcode, each.operands, str(each.shape), each.called) for name, each in program.instructions.items()
    }


def test_text_is_long_or_short(planned: Path, tmp_path: Path) -> None:
    result = xp.open(planned).graph(program="jit_kept")
    short, long = result.to_text(), result.to_text(long=True)
    assert short is not None
    assert long is not None
    assert "op_name" in long
    assert "op_name" not in short
    assert short.count(" = ") == len(main_program(result.profile, "jit_kept").instructions)
    assert result.to_text(tmp_path / "program.txt") is None
    assert (tmp_path / "program.txt").read_text("utf-8") == short


def test_no_program_says_why(corpus: Path) -> None:
    result = xp.open(corpus / "v100-tf").graph()
    assert not len(result.frame)
    assert "describes no XLA program" in result.notes[0]
    dot_graph(result.to_dot() or "")
    with pytest.raises(UsageError, match="no program to write"):
        result.to_text()


def opened(tmp_path: Path, proto: bytes) -> xp.Profile:
    space = SpaceBuilder()
    space.hlo({"jit_f(1)": proto})
    return xp.open(space.write(tmp_path))


def ladder(steps: int) -> bytes:
    """Return ``p -> a0 -> a1 -> …``; with the ``r`` of the small program, two ops more than steps."""
    return bytes(chained_proto(steps).SerializeToString())


def fan(count: int) -> bytes:
    """Return a parameter that many ops read."""
    message = message_class("HloProto")()
    message.ParseFromString(ladder(1))
    computation = message.hlo_module.computations[0]
    for number in range(1, count - 1):
        added = computation.instructions.add(name=f"a{number}", opcode="negate", id=10 + number, operand_ids=[1])
        added.shape.CopyFrom(computation.instructions[0].shape)
    return bytes(message.SerializeToString())


TOKEN = re.compile(r'\s*(?:(?P<text>"(?:[^"\\]|\\.)*")|(?P<word>[A-Za-z_]\w*)|(?P<sign>->|[\[\]{};=,]))', re.DOTALL)
Nodes, Edges = dict[str, str], list[tuple[str, str]]


def dot_graph(source: str) -> tuple[Nodes, Edges]:
    """Read the part of the DOT language a graph needs, strictly: nodes with their labels, and edges."""
    tokens, position = [], 0
    while source[position:].strip():
        match = TOKEN.match(source, position)
        assert match, f"no token at {source[position : position + 40]!r}"
        assert not re.search(r"[\x00-\x1f]", match["text"] or ""), "a control character in a string"
        tokens.append(match[0].strip())
        position = match.end()
    assert tokens[:3] == ["digraph", "program", "{"]
    assert tokens[-1] == "}"
    nodes: Nodes = {}
    edges: Edges = []
    at = 3
    depth = 1
    while at < len(tokens):
        token = tokens[at]
        if token == "}":
            depth -= 1
            at += 1
        elif token == "subgraph":
            assert tokens[at + 2] == "{"
            depth += 1
            at += 3
        elif tokens[at + 1] == "=":
            assert tokens[at + 3] == ";"
            at += 4
        else:
            target = tokens[at + 2] if tokens[at + 1] == "->" else None
            at += 3 if target else 1
            attributes, at = attribute_list(tokens, at)
            if target:
                edges.append((token, target))
            elif token != "node":
                assert token not in nodes
                nodes[token] = attributes["label"]
    assert depth == 0
    assert {end for edge in edges for end in edge} <= set(nodes)
    return nodes, edges


def attribute_list(tokens: list[str], at: int) -> tuple[dict[str, str], int]:
    assert tokens[at] == "["
    attributes: dict[str, str] = {}
    at += 1
    while tokens[at] != "]":
        name, equals, value = tokens[at : at + 3]
        assert equals == "="
        attributes[name] = re.sub(r"\\(.)", lambda match: {"n": "\n"}.get(match[1], match[1]), value[1:-1])
        at += 4 if tokens[at + 3] == "," else 3
    assert tokens[at + 1] == ";"
    return attributes, at + 2


def test_the_way_to_a_body_is_the_calls_from_the_entry(tmp_path: Path) -> None:
    space = SpaceBuilder()
    space.hlo({"jit_f(7)": proto_of(parsed(NESTED))})
    profile = xp.open(space.write(tmp_path))
    assert profile.graph(op="loop").summary["way"] == []
    inner = profile.graph(op="deep").summary
    assert inner["computation"] == "inner"
    assert inner["way"] == [{"computation": "main", "op": "loop"}, {"computation": "body", "op": "twice"}]
    # The name of a computation stands for all of it.
    assert profile.graph(op="body").summary["way"] == [{"computation": "main", "op": "loop"}]
    [row] = profile.graph(op="loop", radius=0).frame.to_dict("records")
    assert row["called"] == "body, condition"
