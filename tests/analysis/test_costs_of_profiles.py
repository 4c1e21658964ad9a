"""Costs of every instruction of every program of a profile, recorded or captured here, against XLA's own analysis."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.analysis import xla_costs
from tests.formats.hlo_messages import compiled, program_of
from tests.formats.xspace_messages import parse
from xprof_nb.analysis.costs.table import instruction_costs
from xprof_nb.formats.hlo import read_program
from xprof_nb.model.program import Instruction

FLOAT32_SUM = 1e-6
RECORDED = {
    "mi300x-jax-conv": 700, "mi300x-jax-gemm": 30, "mi350-te-attention": 700, "tpu-v6e-psum": 25, "v100-tf": 0,
}  # fmt: skip
CAPTURED = ("scan", "four_devices", "scopes", "convolution", "while_loop", "pallas")
_LIBRARY = ("__cublas$gemm", "__cudnn$conv")


def is_known_better(instruction: Instruction) -> bool:
    """Whether we count on purpose what XLA does not know, or counts twice: library calls and asynchronous copies."""
    return instruction.opcode in {"copy-start", "copy-done"} or instruction.custom_call_target.startswith(_LIBRARY)


def assert_as_xla(file: Path) -> int:
    compared = 0
    for plane in parse(file.read_bytes()).planes:
        protos = {
            entry.name: stat.bytes_value
            for entry in plane.event_metadata.values()
            for stat in entry.stats
            if plane.name == "/host:metadata" and stat.WhichOneof("value") == "bytes_value"
        }
        for name, proto in protos.items():
            program = read_program(proto, program_id=1, name=name, file=str(file))
            ours, theirs = instruction_costs(program), xla_costs.instruction_costs(proto)
            assert set(theirs) <= set(program.instructions)
            for instruction, cost in theirs.items():
                compared += 1
                if is_known_better(program.instructions[instruction]):
                    continue
                expected = [math.nan] * 3 if cost[0] == -1 else list(cost)
                found = ours.cost(instruction)[:3]
                assert np.allclose(found, expected, rtol=FLOAT32_SUM, atol=0, equal_nan=True), (name, instruction)
    return compared


@pytest.mark.parametrize("folder", RECORDED)
def test_recorded_programs(corpus: Path, folder: str) -> None:
    (file,) = corpus.glob(f"{folder}/plugins/profile/*/*.xplane.pb")
    assert assert_as_xla(file) >= RECORDED[folder]


@pytest.mark.parametrize("workload", CAPTURED)
def test_programs_captured_here(tmp_path: Path, workload: str) -> None:
    pytest.importorskip("jax")
    script = Path(__file__).with_name("cpu_workloads.py")
    subprocess.run([sys.executable, str(script), str(tmp_path), workload], check=True, timeout=240)
    (file,) = tmp_path.rglob("*.xplane.pb")
    assert assert_as_xla(file) > 3


def test_a_matrix_multiplication_of_odd_sizes() -> None:
    """(2x73) @ (73x256): 2 * 2 * 73 * 256 = 74,752 FLOPs."""
    module = compiled(lambda a, b: a @ b, np.ones((2, 73), np.float32), np.ones((73, 256), np.float32))
    assert instruction_costs(program_of(module)).total.flops == 74_752
