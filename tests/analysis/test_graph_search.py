"""Searching a program, its text, and what the picture of a neighbourhood needs to know of what it does not show."""

from __future__ import annotations

from pathlib import Path

import pytest

import xprof_nb as xp
from tests.analysis.test_graph import fan, ladder, opened, xplane
from xprof_nb.analysis import graph_export
from xprof_nb.errors import UsageError

MANY = 50_000


def found(profile: xp.Profile, text: str, **params: object) -> list[str]:
    return profile.ask("graph_search", text=text, **params).frame["op"].tolist()


def test_every_word_has_to_be_in_name_opcode_shape_or_framework_op(corpus: Path) -> None:
    profile = xp.open(xplane(corpus / "mi350-te-attention"))
    program = next(each for each in profile.programs.values() if each.name == "jit_loss_fn")
    texts = {
        name: f"{name} {each.opcode} {each.shape} {each.op_name}".lower() for name, each in program.instructions.items()
    }
    for words in ("fusion", "FUSION f32", "dot_general bf16[", "tuple get", "gemm", "transpose(jvp"):
        expected = {name for name, text in texts.items() if all(word in text for word in words.lower().split())}
        result = profile.ask("graph_search", text=words, program=program.id, limit=10_000)
        assert set(result.frame["op"]) == expected
        assert result.summary["hit_count"] == len(expected) > 0
        assert result.summary["searched_count"] == len(program.instructions)
    assert len(found(profile, "", limit=1_000_000)) == sum(len(each.instructions) for each in profile.programs.values())


def test_what_took_most_time_comes_first_with_the_numbers_of_ops(corpus: Path) -> None:
    profile = xp.open(xplane(corpus / "mi350-te-attention"))
    hits = profile.ask("graph_search", text="fusion", program="jit_loss_fn").frame
    times = hits["self_time_ps"].dropna()
    assert times.is_monotonic_decreasing
    assert hits["self_time_ps"].isna().tolist() == sorted(hits["self_time_ps"].isna())
    ops = profile.ops(program="jit_loss_fn").frame.groupby("op")["self_time_ps"].sum()
    assert len(times)
    assert times.tolist() == ops[hits.loc[times.index, "op"]].tolist()


def test_nothing_found_says_where_and_how_to_look(tmp_path: Path) -> None:
    profile = opened(tmp_path, ladder(3))
    result = profile.ask("graph_search", text="nonesuch f32")
    assert not len(result.frame)
    assert "No op of jit_f(1) has 'nonesuch f32'" in result.notes[0]
    with pytest.raises(UsageError, match="limit cannot be 0"):
        profile.ask("graph_search", text="a", limit=0)
    with pytest.raises(UsageError, match="text cannot be"):
        profile.ask("graph_search", text="a" * 2000)


def test_a_program_of_fifty_thousand_instructions_is_searched_and_shown_in_part(tmp_path: Path) -> None:
    profile = opened(tmp_path, fan(MANY))
    instructions = profile.programs[1].instructions.values()
    result = profile.ask("graph_search", text="negate")
    assert result.summary["searched_count"] == len(instructions) >= MANY
    assert result.summary["hit_count"] == sum(each.opcode == "negate" for each in instructions) > MANY - 10
    assert len(result.frame) == 100
    assert "limit= gives more" in result.notes[0]
    assert found(profile, "a49997") == ["a49997"]
    around = profile.graph(op="a49997", radius=2)
    assert len(around.frame) <= 500
    row = around.frame.set_index("op").loc["p"]
    assert row["user_count"] == sum("p" in each.operands for each in instructions) > MANY - 10


def test_neighbours_are_counted_whether_they_are_shown_or_not(corpus: Path) -> None:
    profile = xp.open(xplane(corpus / "mi350-te-attention"))
    result = profile.graph(program="jit_loss_fn", radius=1)
    program = profile.programs[int(result.summary["program_id"])]
    for row in result.frame.itertuples():
        home = program.computations[program.instructions[row.op].computation]
        assert row.operand_count == len(set(program.instructions[row.op].operands))
        assert row.user_count == sum(row.op in each.operands for each in home.instructions)
        assert row.program_id == str(program.id)


def test_every_program_can_be_picked_and_a_computation_says_who_calls_it(corpus: Path) -> None:
    profile = xp.open(xplane(corpus / "tpu-v6e-psum"))
    result = profile.graph(program="jit_f")
    listed = result.summary["programs"]
    assert {each["program_id"] for each in listed} == {str(number) for number in profile.programs}
    times = [each["self_time_ps"] for each in listed if each["self_time_ps"] is not None]
    assert times == sorted(times, reverse=True)
    assert result.summary["callers"] == []
    program = profile.programs[int(result.summary["program_id"])]
    fusion = program.instructions["broadcast_add_fusion.2"]
    inner = profile.graph(program="jit_f", op=fusion.called[0])
    assert inner.summary["callers"] == ["broadcast_add_fusion.2"]


def test_the_text_of_a_program_is_what_is_written_to_a_file(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    profile = xp.open(xplane(corpus / "tpu-v6e-psum"))
    answer = profile.ask("graph_text", program="jit_f")
    assert "\n".join(answer.frame["line"]) + "\n" == profile.graph(program="jit_f").to_text(long=True)
    assert any("step= is not applied" in note for note in profile.ask("graph_text", step=1).notes)
    monkeypatch.setattr(graph_export, "LONGEST_TEXT", 100)
    cut = profile.ask("graph_text", program="jit_f")
    assert not len(cut.frame)
    assert "to_text('program.hlo', long=True)" in cut.notes[0]
