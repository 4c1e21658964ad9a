"""What xprof counts for ops on a GPU, held against xprof itself: every instruction of many programs, run once each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.analysis.gpu_spaces import DETAILS, US, V100
from tests.formats.hlo_messages import compiled, parsed, proto_of
from tests.xprof_oracle import ask_xprof, rows_of
from tests.xspace_builder import SpaceBuilder
from xprof_nb.analysis.xprof.gpu_costs import GpuCost, gpu_costs
from xprof_nb.formats.hlo import read_program
from xprof_nb.model.program import Program

CLOSE = 2e-6
NOTHING = GpuCost(0.0, 0.0, 0.0, 0.0)
ODD = ("set-dimension-size", "calls=unpack")
"""A dynamic size that xprof's build drops on reading, and a fused tuple of tuples."""


def xprofs_costs(folder: Path, programs: list[tuple[bytes, Program]]) -> dict[tuple[int, str], dict[str, float]]:
    """Return flops, model flops and bytes of every instruction, from a profile in which each ran for 1 us."""
    space = SpaceBuilder()
    stream = space.plane("/device:GPU:0", V100).line("Stream #1")
    names = [(program.id, name) for _, program in programs for name in program.instructions]
    for turn, (number, name) in enumerate(names):
        known = {"hlo_op": name, "hlo_module": "m", "program_id": number, "kernel_details": DETAILS}
        stream.event(f"k{turn}", 2 * turn * US, US, **known)
    space.hlo({f"m({program.id})": proto for proto, program in programs})
    return {
        (int(row["program_id"]), row["hlo_op_name"]): {
            "flops": row["normalized_flop_rate"] * 1e3,
            "model_flops": row["model_flop_rate"] * 1e3,
            "bytes_accessed": row["measured_memory_bw"] * 2**30 / 1e6,
            "hbm_bytes": row["hbm_bw"] * 2**30 / 1e6,
        }
        for row in rows_of(ask_xprof(space.write(folder), "hlo_stats"))
    }


def check(folder: Path, protos: list[bytes]) -> int:
    programs = [
        (proto, read_program(proto, program_id=number, name="m", file="f")) for number, proto in enumerate(protos, 1)
    ]
    expected = xprofs_costs(folder, programs)
    wrong = []
    for _, program in programs:
        costs = gpu_costs(program)
        for name in program.instructions:
            cost = costs.get(name, NOTHING)
            cost = cost._replace(hbm_bytes=cost.hbm_bytes or cost.bytes_accessed)
            theirs = expected[program.id, name]
            if any(getattr(cost, key) != pytest.approx(value, rel=CLOSE, abs=0.5) for key, value in theirs.items()):
                wrong.append((program.text(name)[:100], cost, theirs))
    assert not wrong
    return len(expected)


def test_costs_of_compiled_programs(tmp_path: Path) -> None:
    jnp = pytest.importorskip("jax.numpy")
    from tests.analysis import hlo_workloads as workloads

    made: list[Any] = [
        *(getattr(workloads, name)() for name in ("mlp_step", "convolutions", "indexing", "control_flow", "numbers")),
        *(getattr(workloads, name)() for name in ("randomness", "linear_algebra", "batch_groups")),
        workloads.transformer(jnp.float32),
    ]
    protos = [proto_of(compiled(function, *arguments)) for function, arguments in made]
    assert check(tmp_path, protos) > 3000


def test_costs_of_every_opcode(tmp_path: Path) -> None:
    pytest.importorskip("jaxlib")
    from tests.analysis.hlo_snippets import SNIPPETS, module_text

    texts = [module_text(snippet) for snippet in SNIPPETS if not any(odd in snippet for odd in ODD)]
    assert check(tmp_path, [proto_of(parsed(text)) for text in texts]) > 3000


@pytest.mark.parametrize(("dtype", "share"), [("bf16", 1), ("f8e4m3fn", 2), ("s8", 2)])
def test_small_types_count_less(tmp_path: Path, dtype: str, share: int) -> None:
    pytest.importorskip("jaxlib")
    text = f"""HloModule m
ENTRY e {{
 a = {dtype}[64,32]{{1,0}} parameter(0)
 b = {dtype}[32,16]{{1,0}} parameter(1)
 ROOT d = f32[64,16]{{1,0}} dot(a, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
}}"""
    proto = proto_of(parsed(text))
    check(tmp_path, [proto])
    cost = gpu_costs(read_program(proto, program_id=1, name="m", file="f"))["d"]
    assert (cost.model_flops, cost.flops) == (2 * 64 * 32 * 16, 2 * 64 * 32 * 16 // share)
