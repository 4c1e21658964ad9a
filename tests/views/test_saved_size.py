"""What a notebook keeps of each view of each recorded profile: all its forms together stay small enough to save."""

from __future__ import annotations

import nbformat
import pytest

import xprof_nb as xp
from xprof_nb import snapshot, views

LARGEST_OUTPUT_BYTES = 300_000
LARGEST_GROWTH_BYTES = 1_000_000
RECORDED = (
    "tpu-v6e-psum",
    "tpu-vllm-trace",
    "v100-tf",
    "mi300x-jax-conv",
    "mi300x-jax-gemm",
    "mi350-te-attention",
)
ARGUMENTS = {"sql": {"text": "SELECT * FROM ops"}}


def notebook_bytes(results: list[xp.Result]) -> int:
    """Return the size of a notebook file whose cells show these results."""
    cells = []
    for result in results:
        data, _ = views.mimebundle(result)
        output = nbformat.v4.new_output("execute_result", data=data, execution_count=1)
        cells.append(nbformat.v4.new_code_cell("profile", outputs=[output]))
    return len(nbformat.writes(nbformat.v4.new_notebook(cells=cells)).encode())


@pytest.mark.parametrize("run", [*RECORDED, "cpu"])
def test_every_output_stays_below_300_kb(request: pytest.FixtureRequest, run: str) -> None:
    path = request.getfixturevalue("cpu_profile") if run == "cpu" else request.getfixturevalue("corpus") / run
    profile = xp.open(path)
    shown = {name: profile.ask(name, **ARGUMENTS.get(name, {})) for name in snapshot.VIEWS if name != "explore"}
    sizes = {name: notebook_bytes([result]) for name, result in {**shown, "explore": profile.explore()}.items()}
    assert {name: size for name, size in sizes.items() if size > LARGEST_OUTPUT_BYTES} == {}


def test_the_same_view_ten_times_is_below_a_megabyte(cpu_profile: object) -> None:
    result = xp.open(cpu_profile).op_profile()
    assert notebook_bytes([result] * 10) < LARGEST_GROWTH_BYTES
