"""Device memory as a person sees it, and what to do when it ran out."""

from __future__ import annotations

import json
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import xprof_nb as xp
from tests.capture.test_oom import GIB, GPU_BFC, MIB, TPU_COMPILE
from xprof_nb.capture.memory_report import LiveArray, MemoryReport, ProgramMemory
from xprof_nb.capture.memory_watch import MemoryWatch
from xprof_nb.capture.oom import read
from xprof_nb.capture.oom_advice import advice
from xprof_nb.errors import UsageError
from xprof_nb.memory import MemoryOfCell

NOTHING = MemoryReport((), (), (), ())


def array(size_bytes: int, *held_by: str) -> LiveArray:
    return LiveArray(held_by, "float32", (size_bytes // 4,), "SingleDeviceSharding", size_bytes)


def holding(*arrays: LiveArray, programs: tuple[ProgramMemory, ...] = ()) -> MemoryReport:
    return MemoryReport((), arrays, programs, ())


def test_a_snapshot_has_arrays_their_holders_and_the_plans_of_programs(monkeypatch) -> None:
    @jax.jit
    def of_this_test(x):
        return jnp.sin(x @ x) @ x

    weights = jnp.asarray(np.ones((512, 1024, 128), np.float32))
    square = jnp.ones((1024, 1024))
    of_this_test(square).block_until_ready()
    monkeypatch.setattr(sys.modules["__main__"], "params", {"w": weights}, raising=False)
    snapshot = xp.memory_snapshot()
    first = snapshot.frame.iloc[0]
    assert (first["held_by"], first["size_bytes"]) == (("params['w']",), 256 * MIB)
    assert (first["dtype"], first["shape"]) == ("float32", (512, 1024, 128))
    (device,) = snapshot.devices.to_dict("records")
    assert device["after_bytes"] >= 260 * MIB
    assert snapshot.devices["before_bytes"].isna().all()
    (plan,) = snapshot.programs[snapshot.programs["program"] == "jit_of_this_test"].to_dict("records")
    assert (plan["argument_bytes"], plan["output_bytes"]) == (4 * MIB, 4 * MIB)
    assert plan["temporary_bytes"] == 4 * MIB
    assert "no allocator statistics" in snapshot.notes[0]
    assert "256 MiB" in repr(snapshot)
    assert "params[&#x27;w&#x27;]" in snapshot._repr_html_()
    json.dumps(snapshot.to_dict())


def test_a_cell_that_leaves_nothing_says_so() -> None:
    shown = MemoryOfCell(MemoryWatch().report({}))
    assert shown.notes[-1] == "No array is alive that was not there before."
    assert repr(shown).startswith("device memory of this cell")


def test_what_a_tpu_compiler_said_is_explained_with_numbers() -> None:
    explained = xp.explain_oom(TPU_COMPILE)
    assert explained.summary["sentence"].startswith("Out of memory: 17.2 GiB wanted, 15.8 GiB of hbm")
    assert explained.summary["missing_bytes"] == round(17.2 * GIB) - round(15.75 * GIB)
    assert list(explained.largest["size_bytes"]) == [4 * GIB, 512 * MIB]
    assert explained.largest["unpadded_bytes"].isna().sum() == 0
    text = " ".join(explained.advice)
    assert "jax.checkpoint" in text
    assert "temporaries are 16.5 GiB, 95.9 %" in text
    # (15.75 - (17.2 - 16.5)) / 16.5 of the temporaries fit.
    assert "91.2 % of it would fit" in text
    assert "padding is 2.00 GiB" in text
    assert "fusion.1265" in repr(explained)
    json.dumps(explained.to_dict())


def test_what_nobody_needs_is_freed_first() -> None:
    report = holding(
        array(4 * GIB, "activations in train, held by the last traceback"),
        array(2 * GIB, "_", "Out[5]"),
        array(GIB, "params['w']", "Out[3]"),
        array(MIB),
    )
    said = advice(read(GPU_BFC), report)
    assert said[0].startswith("Free 4.00 GiB that only the last traceback holds (activations in train)")
    assert said[1].startswith("Free 2.00 GiB that shown results hold and no variable does (_)")
    assert "1.00 GiB held by variables: `del params['w']`" in said[2]


def test_donation_is_advised_for_what_it_would_give() -> None:
    program = ProgramMemory("jit_step", 6 * GIB, 6 * GIB, GIB, GIB, 0)
    said = advice(read(GPU_BFC), holding(programs=(program,)))
    assert any("up to 5.00 GiB" in one and "donate_argnums" in one for one in said)
    donated = ProgramMemory("jit_step", 6 * GIB, 6 * GIB, 6 * GIB, GIB, 0)
    assert not any("donate" in one for one in advice(read(GPU_BFC), holding(programs=(donated,))))


def test_memory_in_pieces_is_not_called_too_small() -> None:
    text = (
        "RESOURCE_EXHAUSTED: Attempting to allocate 31.00M. There are 58.00M free. Due to fragmentation, the largest "
    )
    said = advice(read(f"{text}contiguous region of free memory is 30.00M."), NOTHING)
    assert said == [one for one in said if "in pieces" in one]
    assert len(said) == 1


def test_the_last_error_of_the_notebook_is_the_one_explained(monkeypatch) -> None:
    def train() -> None:
        held = jnp.asarray(np.ones((16, 1024, 1024), np.float32))
        try:
            jnp.zeros((2**60,), jnp.int8).block_until_ready()
        except (ValueError, RuntimeError) as error:  # jax raises either
            raise ValueError(held.shape) from error

    monkeypatch.delattr(sys, "last_exc", raising=False)
    try:
        train()
    except ValueError as error:
        monkeypatch.setattr(sys, "last_value", error, raising=False)
    explained = xp.explain_oom()
    assert explained.summary["asked_bytes"] == 2**60
    mine = explained.frame[explained.frame["shape"] == (16, 1024, 1024)]
    assert mine["held_by"].iloc[0] == ("held in train, held by the last traceback",)
    assert any("held in train" in one for one in explained.advice)


@pytest.mark.parametrize(
    ("error", "note"),
    [
        (ValueError("division"), "does not read as an out-of-memory error"),
        ("", "does not read as an out-of-memory error"),
        ("RESOURCE_EXHAUSTED: quota", "How much was asked for could not be read"),
    ],
)
def test_what_is_not_understood_is_said_and_the_rest_still_shown(error, note) -> None:
    explained = xp.explain_oom(error)
    assert note in explained.notes[0]
    assert len(explained.devices) == len(jax.local_devices())
    assert repr(explained)


def test_without_an_error_there_is_nothing_to_explain(monkeypatch) -> None:
    for name in ("last_exc", "last_value"):
        monkeypatch.delattr(sys, name, raising=False)
    with pytest.raises(UsageError, match="no error to explain"):
        xp.explain_oom()


def test_the_answer_comes_before_the_advice_and_once() -> None:
    explained = xp.explain_oom(TPU_COMPILE)
    for text in (repr(explained), explained._repr_html_()):
        assert text.count("Out of memory: 17.2 GiB wanted") == 1
        assert text.index("Out of memory: 17.2 GiB wanted") < text.index("jax.checkpoint")
