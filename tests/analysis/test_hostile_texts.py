"""Texts that would make a careless pattern, path or product run for hours: each is answered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xprof_nb as xp
from tests.analysis import questions
from tests.analysis.gpu_spaces import GpuSpace, add_module
from tests.tpu_builder import Core
from tests.xspace_builder import SpaceBuilder
from xprof_nb.analysis.collective_ops import without_numbers
from xprof_nb.analysis.op_nodes import MOST_SCOPES, scopes
from xprof_nb.model.shape import Shape
from xprof_nb.model.tensorflow import dtype_names

LONG = 100_000
"""Characters: what takes the square of it takes minutes."""
LIKE_XPROF = {"ops", "op_profile", "framework_ops", "collectives", "kernels", "overview"}
OF_OPS: dict[str, dict[str, Any]] = {
    "a path": {"tf_op": "a/" * (LONG // 2)},
    "wrappers": {"tf_op": "jvp(" * (LONG // 5) + ")" * (LONG // 5)},
    "a name of numbers": {"op": ".1" * (LONG // 2) + "x"},
    "a word": {"text": "x" * LONG},
    "opened shapes": {"text": "f32[" * (LONG // 4) + " all-reduce("},
    "opened groups": {"text": "f32[2] all-reduce(f32[2] %a), " + "replica_groups={{" * (LONG // 17)},
    "no group": {"text": "f32[<=] all-reduce(f32[<=,] %a), replica_groups=[]<=[]"},
    "a huge shape": {"text": "f32[" + "9" * 5000 + "] all-reduce(f32[" + "9," * 5000 + "] %a)"},
    "operands": {"op": "all-reduce-done", "text": "f32[2] all-reduce-done(" + "%" * LONG},
    "a source": {"source": ":" * LONG},
}
OF_KERNELS: dict[str, dict[str, Any]] = {
    "a kernel of a library": {"name": "nccl" * (LONG // 4)},
    "a kernel of templates": {"name": "cutlass" * (LONG // 7)},
    "launch details": {"kernel_details": "x" * LONG},
    "copy details": {"memcpy_details": "a:" * (LONG // 2)},
    "a scope": {"tf_op": "a/" * (LONG // 2)},
}


def ask_everything(profile: xp.Profile) -> None:
    for query in questions.names():
        for compat in (None, "xprof") if query in LIKE_XPROF else (None,):
            said = questions.outcome(profile, query, compat=compat, **questions.NEEDED.get(query, {}))
            assert said in {"answered", "refused", "empty"}, query


@pytest.mark.parametrize("what", OF_OPS)
def test_texts_of_ops(tmp_path: Path, what: str) -> None:
    given = dict(OF_OPS[what])
    op, text = given.pop("op", "all-reduce.1"), given.pop("text", "")
    space = SpaceBuilder()
    core = Core(space)
    core.op(op, "all-reduce", f"%{op} = {text}" if text else "", **given)
    core.runs([("jit_f(7)", 0, 10)])
    core.ops([(op, 0, 5)])
    profile = xp.open(space.write(tmp_path))
    ask_everything(profile)
    for by in ("framework", "source"):
        assert profile.op_profile(by=by).frame["depth"].max() <= MOST_SCOPES + 2


@pytest.mark.parametrize("what", OF_KERNELS)
def test_texts_of_kernels(tmp_path: Path, what: str) -> None:
    given = dict(OF_KERNELS[what])
    made = GpuSpace(jit_f=add_module())
    made.gpu().line("Stream #1(Compute)").event(given.pop("name", "kernel"), 0, 10**6, correlation_id=1, **given)
    profile = xp.open(made.space.write(tmp_path))
    ask_everything(profile)
    assert np.isnan(profile.kernels().frame["registers_per_thread"]).all()


def test_what_is_left_of_them() -> None:
    assert without_numbers("all-reduce.1.22") == "all-reduce"
    assert without_numbers("all-reduce.x.1") == "all-reduce.x"
    assert len(scopes("a/" * LONG)) == MOST_SCOPES
    assert scopes("a/jit(b/c)/d") == ["a", "jit(b/c)", "d"]
    assert Shape("f32", (2**62,) * 400).bytes == 2**64
    unknown = np.array([-1, -1], np.int64)
    assert dtype_names(unknown, np.array(["x" * LONG, "bf16[2]"], object)).tolist() == [None, "bf16"]
