"""The timeline of real profiles and of made-up ones: tracks, windows, search, selection, details."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import xprof_nb as xp
from tests.analysis.timelines import first_event, track
from tests.formats.xspace_messages import parse
from tests.xspace_builder import SpaceBuilder
from xprof_nb.errors import UsageError
from xprof_nb.model.columns import encode

LARGEST_ANSWER = 300_000


@pytest.fixture(scope="module")
def tpu(corpus: Path) -> xp.Profile:
    return xp.open(corpus / "tpu-v6e-psum")


@pytest.fixture(scope="module")
def v100(corpus: Path) -> xp.Profile:
    return xp.open(corpus / "v100-tf")


@pytest.fixture(scope="module")
def cpu(cpu_profile: Path) -> xp.Profile:
    return xp.open(cpu_profile)


def kinds(profile: xp.Profile, device: str) -> list[str]:
    frame = profile.trace().frame
    return frame[(frame["device"] == device) & (frame["kind"] != "device")]["kind"].tolist()


def test_a_tpu_has_what_its_cores_did_on_top_and_threads_folded_below(tpu):
    frame = tpu.trace().frame
    assert (frame["track"] == np.arange(len(frame))).all()
    assert (frame["parent"] < frame["track"]).all()
    assert kinds(tpu, "TPU:0")[:7] == [*["utilization"] * 2, "steps", "programs", "ops", "async", "collectives"]
    last_device = frame.loc[frame["device"].str.startswith("TPU"), "track"].max()
    threads = frame[frame["kind"] == "threads"]
    assert threads["folded"].all()
    assert (threads["track"] > last_device).all()
    assert not frame.loc[frame["kind"].isin(["device", "ops", "steps", "programs"]), "folded"].any()


def test_every_event_of_the_file_is_on_a_track(tpu, corpus):
    """Counted by protobuf itself; lines the derived tracks show are counted by those."""
    (file,) = corpus.glob("tpu-v6e-psum/plugins/profile/*/*.xplane.pb")
    frame = tpu.trace().frame
    for plane in parse(file.read_bytes()).planes:
        device = plane.name.removeprefix("/device:")
        mine = frame[frame["device"] == device] if plane.name.startswith("/device:") else frame[frame["device"] == ""]
        for line in plane.lines:
            kind = {"XLA Modules": "programs", "XLA Ops": "ops"}.get(line.name)
            rows = mine[mine["kind"] == kind] if kind else mine[mine["name"] == line.name]
            if line.events:
                assert len(line.events) in rows["event_count"].tolist(), line.name


def test_a_window_of_ops_adds_up_to_the_busy_time_of_the_profile(tpu):
    view, ops = tpu.trace(), tpu.ops().frame
    for device in ("TPU:0", "TPU:3"):
        row = track(tpu, "ops", device)
        drawn = view.window(tracks=[row], pixels=800)
        top = drawn["lane"] == 0
        whole = ops.loc[ops["device"] == device, "self_time_ps"].sum()
        assert drawn["busy_ps"][top].sum() == pytest.approx(whole, rel=1e-3)  # device clock there, host clock here
        assert drawn["busy_ps"][top].sum() == view.frame["busy_ps"][row]


def test_zooming_in_shows_the_same_time_in_finer_pieces(tpu):
    view, row = tpu.trace(), track(tpu, "ops", "TPU:0")
    end = view.summary["end_ps"]
    whole = view.window(tracks=[row], pixels=100)
    parts = [view.window(end * i / 16, end * (i + 1) / 16, 1000, [row]) for i in range(16)]
    assert sum(part["busy_ps"].sum() for part in parts) == pytest.approx(whole["busy_ps"].sum(), rel=1e-12)
    assert sum(len(part["busy_ps"]) for part in parts) > 3 * len(whole["busy_ps"])
    closest = view.window(drawn_at := float(parts[8]["start_ps"][1]), drawn_at + 1000, 1000, [row])
    assert closest["count"].max() == 1


def test_answers_are_small_whatever_is_asked(tpu, v100, cpu):
    for profile in (tpu, v100, cpu):
        every = profile.trace().frame["track"].tolist()
        for tracks in (None, every):
            answer = profile.ask("trace_window", pixels=8192, tracks=tracks)
            assert len(answer.frame) <= 10_000
            assert len(encode(answer.frame, answer.summary)) <= LARGEST_ANSWER


@pytest.mark.parametrize(
    ("name", "roof", "cost"),
    [("FLOP/s of peak", "reference", "flops"), ("B/s of peak", "hbm", "hbm_bytes")],
)
def test_a_curve_of_work_adds_up_to_the_work_of_the_ops(tpu, name, roof, cost):
    view, row = tpu.trace(), track(tpu, "utilization", "TPU:0", name)
    drawn = view.window(tracks=[row])
    done = (drawn["value"] * drawn["duration_ps"]).sum() * 1e-12 * getattr(tpu.devices[0].peaks, roof).value
    assert done == pytest.approx(tpu.ops(device="TPU:0").frame[cost].sum(), rel=1e-9)


def test_memory_is_drawn_in_bytes(v100):
    view, row = v100.trace(), track(v100, "memory", "GPU:4")
    drawn, frame = view.window(tracks=[row]), view.frame
    allocations = v100.memory(device="GPU:4").frame
    assert drawn["high"].max() == frame["maximum"][row] == allocations["heap_bytes"].max()
    assert frame["unit"][row] == "B"
    assert (drawn["low"] <= drawn["value"]).all()


def test_streams_of_a_gpu_are_tracks(v100):
    row = track(v100, "stream", "GPU:4", "#134(Compute)")
    assert v100.trace().frame["event_count"][row] == 665
    details = v100.trace().event(row, first_event(v100, row)).summary
    assert "correlation_id" in details["stats"]
    assert details["device"] == "GPU:4"


def test_a_launch_is_linked_with_its_kernel(v100):
    row = track(v100, "stream", "GPU:4", "#134(Compute)")
    flows = v100.trace().event(row, first_event(v100, row)).summary["flows"]
    assert [flow["direction"] for flow in flows] == ["in"]
    back = v100.trace().event(flows[0]["track"], flows[0]["event"]).summary
    assert row in {flow["track"] for flow in back["flows"]}


def test_the_details_of_an_op_are_those_of_its_kind(tpu):
    row = track(tpu, "collectives", "TPU:1")
    details = tpu.trace().event(row, first_event(tpu, row)).summary
    ops = tpu.ops(device="TPU:1").frame
    mine = ops[ops["op"] == details["op"]].iloc[0]
    assert details["work_kind"] == "collective"
    assert details["flops"] == pytest.approx(mine["flops"] / mine["occurrences"])
    assert details["framework_op"] == mine["framework_op"]
    assert details["program_id"] == str(mine["program_id"])
    json.dumps(details, allow_nan=False)


def test_scopes_nest_as_the_paths_of_the_ops_do(tpu):
    row = track(tpu, "scopes", "TPU:0")
    drawn = tpu.trace().window(tracks=[row], pixels=8192)
    assert set(drawn["name"][drawn["lane"] == 0]) <= {
        "jit(f)",
        "jit(_psum)",
        "jit(convert_element_type)",
        "jit(broadcast_in_dim)",
    }
    busy = [drawn["busy_ps"][drawn["lane"] == lane].sum() for lane in range(3)]
    assert busy[0] >= busy[1] >= busy[2] > 0


def test_ids_of_tracks_do_not_change(tpu, corpus):
    again = xp.open(corpus / "tpu-v6e-psum").trace().frame
    assert again[["track", "kind", "name"]].equals(tpu.trace().frame[["track", "kind", "name"]])


def test_a_cpu_has_devices_with_steps_programs_ops_and_source(cpu):
    assert {"steps", "programs", "ops", "scopes", "source"} <= set(kinds(cpu, "CPU:0"))
    view = cpu.trace()
    row = track(cpu, "ops", "CPU:0")
    ops = cpu.ops().frame
    assert view.frame["event_count"][row] == ops["occurrences"].sum()
    assert view.frame["busy_ps"][row] == pytest.approx(ops["self_time_ps"].sum(), rel=1e-9)
    steps = cpu.steps().frame
    assert view.frame["event_count"][track(cpu, "steps", "CPU:0")] == len(steps)
    assert "CPU:0 was busy" in view.summary["sentence"]


def test_a_selection_of_one_step_counts_its_ops(cpu):
    view, row = cpu.trace(), track(cpu, "ops", "CPU:0")
    found = view.selection(tracks=[row])
    ops = cpu.ops().frame.groupby("op")["occurrences"].sum()
    assert found.frame.set_index("name")["count"].to_dict() == ops.to_dict()
    assert found.summary["op_count"] == ops.sum()
    assert found.summary["busy_ps"] == view.frame["busy_ps"][row]
    assert found.summary["flops"] == pytest.approx(cpu.ops().frame["flops"].sum(), rel=1e-9)
    assert found.summary["exposed_collective_ps"] == 0
    assert found.frame["share_fraction"].max() <= 1


def test_exposed_collectives_are_those_under_which_nothing_computes(tmp_path):
    profile = cpu_of(tmp_path, [("all-reduce.1", 0, 100), ("dot.1", 40, 30), ("dot.2", 200, 50)])
    found = profile.trace().selection()
    assert found.summary["exposed_collective_ps"] == 70
    assert profile.trace().selection(50, 120).summary["exposed_collective_ps"] == 30


def test_a_search_looks_at_the_whole_trace(tpu):
    view = tpu.trace()
    found = view.search("ALL-reduce")
    assert found.frame["count"].sum() == found.summary["count"] == sum(each["count"] for each in found.summary["names"])
    assert len(found.summary["names"]) == found.summary["names_count"] == 9  # compiler passes on the host as well
    collectives = tpu.ops().frame.query("op == 'all-reduce'")
    assert found.summary["names"][0]["name"] == "all-reduce"
    assert found.summary["names"][0]["count"] == collectives["occurrences"].sum() == 4 * 3
    starts, at = [], -1.0
    while (following := view.search("/^all-reduce$/", from_ps=at).summary["next"]) is not None:
        assert following["index"] == len(starts)
        at = following["start_ps"]
        starts.append(at)
    assert starts == sorted(starts)
    assert len(starts) == 12
    last = view.search("/^all-reduce$/", forward=False).summary["next"]
    assert last["start_ps"] == starts[-1]
    assert view.search("no such name").notes
    assert view.search("/(l+)+$/").summary["count"] > 0
    with pytest.raises(UsageError, match="regular expression"):
        view.search("/(/")


def test_filters_choose_tracks_and_the_window_shown_first(tpu):
    one = tpu.trace(device="TPU:2", step=3)
    assert set(one.frame["device"]) == {"", "TPU:2"}
    spans = tpu.steps(device="TPU:2").frame
    step = spans[spans["step"] == 3]
    assert one.summary["shown_start_ps"] + int(one.summary["origin_ps"]) == step["start_ps"].min()
    assert tpu.trace(start_ps=5.0, end_ps=9.0).summary["shown_end_ps"] == 9
    for wrong in ({"device": "TPU:9"}, {"host": "nobody"}, {"step": 10**6}):
        with pytest.raises(UsageError, match="in this profile"):
            tpu.trace(**wrong)


def cpu_of(folder: Path, ops: list[tuple[str, int, int]], name: str = "made") -> xp.Profile:
    """A CPU profile with these ops, each on a thread of its own."""
    builder = SpaceBuilder()
    plane = builder.plane("/host:CPU")
    for number, (op, start, duration) in enumerate(ops):
        stats = {"hlo_op": op, "hlo_module": "jit_f", "program_id": 1, "run_id": 1, "device_ordinal": 0}
        plane.line(f"tf_XLAEigen/{number}").event(op, start, duration, **stats)
    return xp.open(builder.write(folder / name))
