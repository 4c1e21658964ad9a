"""The allocators' timeline: xprof's own numbers, a peak that adds up, and made-up histories with known answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xprof_nb as xp
from tests.xprof_oracle import ask_xprof
from tests.xspace_builder import SpaceBuilder
from xprof_nb.analysis.memory_holders import HELD_BEFORE, STACK, UNACCOUNTED
from xprof_nb.errors import UsageError
from xprof_nb.model import units
from xprof_nb.runs import sidecar

FILES = ["tpu-v6e-psum", "v100-tf", "mi300x-jax-conv", "mi300x-jax-gemm", "mi350-te-attention"]
ALLOCATOR = "GPU_0_bfc"
CAPACITY = 10_000


def xplane(corpus: Path, name: str) -> Path:
    (found,) = (corpus / name).glob("plugins/profile/*/*.xplane.pb")
    return found


@pytest.mark.parametrize("name", FILES)
def test_peaks_and_breakdowns_are_xprofs(name: str, corpus: Path) -> None:
    file = xplane(corpus, name)
    theirs = ask_xprof(file, "memory_profile")["memoryProfilePerAllocator"]
    ours = {peak["allocator"]: peak for peak in xp.open(file).memory(compat="xprof").summary["allocators"]}
    assert set(ours) == set(theirs)
    for allocator, expected in theirs.items():
        found, summary = ours[allocator], expected["profileSummary"]
        stats = summary["peakStats"]
        assert found["peak_bytes"] == int(stats["peakBytesInUse"])
        assert found["peak_heap_bytes"] == int(stats["heapAllocatedBytes"])
        assert found["peak_stack_bytes"] == int(stats["stackReservedBytes"])
        assert found["peak_free_bytes"] == int(stats["freeMemoryBytes"])
        assert found["fragmentation_fraction"] == stats["fragmentation"]
        assert found["peak_ps"] == int(summary["peakStatsTimePs"])
        assert found["capacity_bytes"] == int(summary["memoryCapacity"])
        assert found["lifetime_peak_bytes"] == int(summary["peakBytesUsageLifetime"])
        assert sorted(map(tuple, map(dict.values, found["held"]))) == sorted(breakdown(expected))


def breakdown(profile: dict[str, Any]) -> list[tuple[Any, ...]]:
    rows = []
    for active in profile["activeAllocations"]:
        special, index = int(active["specialIndex"]), int(active["snapshotIndex"])
        row = profile["specialAllocations"][special] if special >= 0 else None
        row = row or profile["memoryProfileSnapshots"][index]["activityMetadata"]
        sizes = (int(row["allocationBytes"]), int(row["requestedBytes"]))
        texts = tuple(row[name] for name in ("tfOpName", "regionType", "dataType", "tensorShape"))
        rows.append((*sizes, *texts, int(active["numOccurrences"])))
    return rows


@pytest.mark.parametrize("name", FILES)
def test_snapshots_are_xprofs(name: str, corpus: Path) -> None:
    file = xplane(corpus, name)
    frame = xp.open(file).memory(compat="xprof").frame
    theirs = ask_xprof(file, "memory_profile")["memoryProfilePerAllocator"]
    assert len(frame) == sum(len(profile["sampledTimelineSnapshots"]) for profile in theirs.values())
    for allocator, profile in theirs.items():
        rows = frame[frame["allocator"] == allocator].to_dict("records")
        found = sorted((row["start_ps"], row["kind"] == "free", *(row[name] for name in ROW)) for row in rows)
        assert found == sorted(map(snapshot, profile["sampledTimelineSnapshots"]))


ROW = ["step", "heap_bytes", "stack_bytes", "free_bytes", "fragmentation_fraction", "lifetime_peak_bytes",
       "requested_bytes", "bytes", "framework_op", "region", "dtype", "shape"]  # fmt: skip


def snapshot(shot: dict[str, Any]) -> tuple[Any, ...]:
    stats, activity = shot["aggregationStats"], shot["activityMetadata"]
    numbers = ("heapAllocatedBytes", "stackReservedBytes", "freeMemoryBytes")
    return (
        int(shot["timeOffsetPs"]),
        activity["memoryActivity"] == "DEALLOCATION",
        int(activity["stepId"]),
        *(int(stats[name]) for name in numbers),
        float(stats["fragmentation"]),
        *(int(value) for value in (stats["peakBytesInUse"], activity["requestedBytes"], activity["allocationBytes"])),
        *(activity[name] for name in ("tfOpName", "regionType", "dataType", "tensorShape")),
    )


@pytest.mark.parametrize("name", FILES)
def test_who_held_it_adds_up_to_the_peak(name: str, corpus: Path) -> None:
    profile = xp.open(xplane(corpus, name))
    result = profile.memory()
    holders = profile.ask("memory_holders").frame
    assert result.frame["start_ps"].is_monotonic_increasing
    assert (result.frame["total_bytes"] + result.frame["free_bytes"] == result.frame["capacity_bytes"]).all()
    for peak in result.summary["allocators"]:
        rows = result.frame[result.frame["allocator"] == peak["allocator"]]
        assert peak["peak_bytes"] == rows["total_bytes"].max()
        assert peak["peak_ps"] == rows.loc[rows["total_bytes"].idxmax(), "start_ps"]
        assert sum(row["bytes"] for row in peak["held"]) == peak["peak_bytes"]
        mine = holders[holders["allocator"] == peak["allocator"]]
        assert mine["bytes"].sum() == peak["peak_bytes"]
        assert len(mine) == peak["holder_count"]
        assert UNACCOUNTED not in set(mine["holder"])
    json.dumps(result.summary, allow_nan=False)


class History:
    """Allocator events of one allocator, whose state follows from them."""

    def __init__(self, held_before: int = 0) -> None:
        self.heap = self.lifetime_peak = held_before
        self.events: list[tuple[int, str, dict[str, Any]]] = []
        self.open: dict[int, int] = {}

    def allocate(self, time: int, address: int, size: int, **stats: Any) -> History:
        self.heap += size
        self.open[address] = size
        return self._add(time, "MemoryAllocation", address, size, stats)

    def free(self, time: int, address: int, size: int | None = None, **stats: Any) -> History:
        self.heap -= self.open.pop(address) if size is None else size
        return self._add(time, "MemoryDeallocation", address, size, stats)

    def _add(self, time: int, name: str, address: int, size: int | None, stats: dict[str, Any]) -> History:
        self.lifetime_peak = max(self.lifetime_peak, self.heap)
        state = {"bytes_allocated": self.heap, "bytes_reserved": 0, "bytes_available": CAPACITY - self.heap}
        state |= {"peak_bytes_in_use": self.lifetime_peak, "fragmentation": 0.25, "allocator_name": ALLOCATOR}
        taken = {} if size is None else {"allocation_bytes": size, "requested_bytes": size}
        self.events.append((time, name, {**state, "addr": address, **taken, **stats}))
        return self

    def write(self, folder: Path, threads: int = 1) -> Path:
        space = SpaceBuilder()
        plane = space.plane("/host:CPU")
        lines = [plane.line(f"thread/{number}") for number in range(threads)]
        for number, (time, name, stats) in enumerate(self.events):
            lines[-1 - number % threads].event(name, time, **stats)
        return space.write(folder)


def test_the_peak_is_the_first_in_time_whatever_the_order_of_threads(tmp_path: Path) -> None:
    history = History().allocate(10, 1, 100).allocate(20, 2, 500).free(30, 2).allocate(40, 3, 300).free(50, 3)
    (peak,) = xp.open(history.write(tmp_path, threads=3)).memory().summary["allocators"]
    assert (peak["peak_bytes"], peak["peak_ps"]) == (600, 20)
    assert peak["capacity_bytes"] == CAPACITY
    assert peak["capacity_fraction"] == 600 / CAPACITY
    assert [row["bytes"] for row in peak["held"]] == [500, 100]


def test_what_was_held_before_the_capture_is_a_row_of_its_own(tmp_path: Path) -> None:
    history = History(held_before=1000).free(5, 77, 250).allocate(10, 1, 100, tf_op="matmul").allocate(20, 2, 50)
    profile = xp.open(history.write(tmp_path))
    (peak,) = profile.memory().summary["allocators"]
    assert peak["peak_bytes"] == 900
    assert {row["holder"]: row["bytes"] for row in peak["held"]} == {HELD_BEFORE: 750, "allocation": 50}
    assert [row["framework_op"] for row in peak["held"]] == [None, "matmul", None]
    assert np.isnan(profile.memory().frame["lifetime_ps"]).all()


def test_an_allocation_lives_across_steps(tmp_path: Path) -> None:
    """xprof forgets it: of step 2 it sees one allocation, and calls the rest unused."""
    history = History().allocate(10, 1, 700, group_id=1).allocate(20, 2, 200, group_id=2).free(30, 2, group_id=2)
    file = history.write(tmp_path)
    profile = xp.open(file)
    assert [row["bytes"] for row in profile.memory().summary["allocators"][0]["held"]] == [700, 200]
    (theirs,) = profile.memory(compat="xprof").summary["allocators"]
    assert [(row["framework_op"], row["bytes"]) for row in theirs["held"]] == [
        ("unused preallocated device memory", 700),
        ("", 200),
    ]
    expected = ask_xprof(file, "memory_profile")["memoryProfilePerAllocator"][ALLOCATOR]
    assert sorted(map(tuple, map(dict.values, theirs["held"]))) == sorted(breakdown(expected))


def test_an_address_used_again_ends_what_was_there(tmp_path: Path) -> None:
    history = History().allocate(10, 1, 100).free(20, 1).allocate(30, 1, 300, shape="f32[75]").free(40, 1)
    frame = xp.open(history.write(tmp_path)).memory().frame
    assert frame["lifetime_ps"].fillna(-1).tolist() == [10, -1, 10, -1]
    assert frame["bytes"].tolist() == [100, 100, 300, 300]
    assert frame["shape"].tolist() == [None, None, "f32[75]", "f32[75]"]
    assert frame["dtype"].tolist() == [None, None, "f32", "f32"]


def test_lost_events_are_named_instead_of_hidden(tmp_path: Path) -> None:
    history = History().allocate(10, 1, 400)
    history.heap -= 400  # freed, but the event was lost
    history.allocate(20, 2, 700)
    (peak,) = xp.open(history.write(tmp_path)).memory().summary["allocators"]
    assert {row["holder"]: row["bytes"] for row in peak["held"]}[UNACCOUNTED] == -400
    assert sum(row["bytes"] for row in peak["held"]) == peak["peak_bytes"] == 700


def test_identical_allocations_are_one_row_and_small_ones_are_summed(tmp_path: Path) -> None:
    history = History()
    for number in range(40):
        history.allocate(number, 100 + number, 1 + number // 2 * 2, tf_op="x")
    history.allocate(50, 1, 5000)
    for number in range(40):
        history.allocate(60 + number, 200 + number, 1, tf_op=f"op{number}")
    (peak,) = xp.open(history.write(tmp_path)).memory().summary["allocators"]
    assert peak["held"][0]["bytes"] == 5000
    assert peak["held"][1] == {"holder": "allocation", "bytes": 78, "count": 2, "framework_op": "x", "caller": None,
                               "shape": None, "dtype": None, "region": None}  # fmt: skip
    assert peak["held"][-1]["holder"].endswith("smaller ones")
    assert sum(row["bytes"] for row in peak["held"]) == peak["peak_bytes"]


def test_the_stack_of_a_tpu_is_a_row_and_its_caller_is_named(corpus: Path) -> None:
    summary = xp.open(xplane(corpus, "tpu-v6e-psum")).memory(device="TPU:1").summary
    (peak,) = summary["allocators"]
    held = {row["holder"]: row for row in peak["held"]}
    assert held[STACK]["bytes"] == peak["peak_stack_bytes"] == 21_491_712_000
    assert "CopyProgramsToSharedMemory" in {row["caller"] for row in peak["held"]}
    assert summary["sentence"].startswith("Peak 20.0 GiB of 31.2 GiB (64.1 %) on TPU:1, ")


def test_filters_choose_and_say_what_they_cannot(tmp_path: Path) -> None:
    history = History().allocate(10, 1, 400).allocate(20, 2, 300).free(30, 1).free(40, 2)
    profile = xp.open(history.write(tmp_path))
    later = profile.memory(window_ps=(15, 35))
    assert later.frame["start_ps"].tolist() == [20, 30]
    assert [row["bytes"] for row in later.summary["allocators"][0]["held"]] == [400, 300]
    assert len(profile.memory(device="GPU:0").frame) == len(profile.memory(device=0).frame) == 4
    assert "program= is not applied" in profile.memory(program="jit_f").notes[0]
    nothing = profile.memory(window_ps=(100, 200))
    assert not len(nothing.frame)
    assert "chosen part" in nothing.notes[0]
    for wrong in ({"device": "GPU:7"}, {"host": "other"}, {"step": 3}):
        with pytest.raises(UsageError):
            profile.memory(**wrong)


def test_a_cpu_says_why_it_has_none(cpu_profile: Path) -> None:
    result = xp.open(cpu_profile).memory()
    assert not len(result.frame)
    assert "XLA on a CPU reports no allocator events" in result.notes[-1]
    assert "buffers()" in result.notes[-1]
    assert not len(xp.open(cpu_profile).memory(compat="xprof").frame)
    assert not ask_xprof(next(cpu_profile.glob("*.xplane.pb")), "memory_profile")["memoryIds"]


def test_a_release_that_records_none_is_named_with_the_cure(tmp_path: Path) -> None:
    space = SpaceBuilder()
    space.plane("/device:GPU:0").line("Stream #1(Compute)").event("k", 0, 10, correlation_id=1)
    run = tmp_path / "plugins" / "profile" / "run"
    space.write(run)
    for version, is_known in (("0.4.30", True), ("0.4.31", False)):
        sidecar.write(run, sidecar.Sidecar(versions={"jax": version}))
        for compat in (None, "xprof"):
            result = xp.open(run).memory(compat=compat)
            assert not len(result.frame)
            said = [note for note in result.notes if "jax 0.4.30 on a GPU records no allocator events" in note]
            assert len(said) == is_known
            assert all("upgrade jax" in note and "buffers()" in note for note in said)


def test_sizes_keep_three_digits() -> None:
    assert units.size(3.5 * 2**20) == "3.50 MiB"
