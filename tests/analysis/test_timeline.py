"""The timeline of real profiles and of made-up ones: tracks, windows, search, selection, details."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xprof_nb as xp
from tests.formats.xspace_messages import parse
from tests.xspace_builder import SpaceBuilder
from xprof_nb.errors import UsageError
from xprof_nb.model.columns import encode

LARGEST_ANSWER = 300_000
PS_PER_US = 10**6


@pytest.fixture(scope="module")
def tpu(corpus: Path) -> xp.Profile:
    return xp.open(corpus / "tpu-v6e-psum")


@pytest.fixture(scope="module")
def v100(corpus: Path) -> xp.Profile:
    return xp.open(corpus / "v100-tf")


@pytest.fixture(scope="module")
def cpu(cpu_profile: Path) -> xp.Profile:
    return xp.open(cpu_profile)


def track(profile: xp.Profile, kind: str, device: str | None = None, name: str | None = None) -> int:
    frame = profile.trace().frame
    chosen = frame[frame["kind"] == kind]
    if device is not None:
        chosen = chosen[chosen["device"] == device]
    if name is not None:
        chosen = chosen[chosen["name"].str.contains(name, regex=False)]
    return int(chosen["track"].iloc[0])


def kinds(profile: xp.Profile, device: str) -> list[str]:
    frame = profile.trace().frame
    return frame[(frame["device"] == device) & (frame["kind"] != "device")]["kind"].tolist()


def test_a_tpu_has_what_its_cores_did_on_top_and_threads_folded_below(tpu):
    frame = tpu.trace().frame
    assert (frame["track"] == np.arange(len(frame))).all()
    assert (frame["parent"] < frame["track"]).all()
    assert kinds(tpu, "TPU:0")[:6] == ["utilization", "steps", "programs", "ops", "async", "collectives"]
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


def test_a_curve_of_flops_adds_up_to_the_flops_of_the_ops(tpu):
    view, row = tpu.trace(), track(tpu, "utilization", "TPU:0")
    drawn = view.window(tracks=[row])
    peak = tpu.devices[0].peaks.reference.value
    done = (drawn["value"] * drawn["duration_ps"]).sum() * 1e-12 * peak
    ops = tpu.ops(device="TPU:0").frame
    assert done == pytest.approx(ops["flops"].sum(), rel=1e-9)


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


def first_event(profile: xp.Profile, row: int) -> float:
    view = profile.trace()
    drawn = view.window(tracks=[row], pixels=8192)
    exact = np.flatnonzero(~np.isnan(drawn["event"]))
    if len(exact):
        return float(drawn["event"][exact[0]])
    closer = view.window(drawn["start_ps"][0], drawn["start_ps"][0] + drawn["duration_ps"][0], 8192, [row])
    return float(closer["event"][~np.isnan(closer["event"])][0])


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


@pytest.mark.parametrize(
    ("query", "params"),
    [
        ("trace_window", {"pixels": 0}),
        ("trace_window", {"pixels": 10**6}),
        ("trace_window", {"tracks": [1.5]}),
        ("trace_window", {"tracks": [10**9]}),
        ("trace_window", {"tracks": [-1]}),
        ("trace_window", {"tracks": list(range(2000))}),
        ("trace_window", {"tracks": "12"}),
        ("trace_window", {"start_ps": float("nan")}),
        ("trace_window", {"start_ps": float("inf")}),
        ("trace_window", {"start_ps": 5, "end_ps": 5}),
        ("trace_search", {"text": ""}),
        ("trace_search", {"text": "a" * 5000}),
        ("trace_event", {"track": 0, "event": 0}),
        ("trace_event", {"track": 5, "event": 1.5}),
        ("trace_event", {"track": 5, "event": 10**15}),
        ("trace_marks", {"markers": [{"name": "a" * 300, "time_ps": 0}]}),
        ("trace_marks", {"markers": [{"name": "a", "time_ps": "0"}]}),
        ("trace_marks", {"markers": [{"name": "a", "time_ps": 0, "more": 1}]}),
        ("trace_marks", {"markers": [{"time_ps": 0}] * 1001}),
    ],
)
def test_what_cannot_be_meant_is_refused(tpu, query, params):
    with pytest.raises(UsageError):
        tpu.ask(query, **params)


def cpu_of(folder: Path, ops: list[tuple[str, int, int]], name: str = "made") -> xp.Profile:
    """A CPU profile with these ops, each on a thread of its own."""
    builder = SpaceBuilder()
    plane = builder.plane("/host:CPU")
    for number, (op, start, duration) in enumerate(ops):
        stats = {"hlo_op": op, "hlo_module": "jit_f", "program_id": 1, "run_id": 1, "device_ordinal": 0}
        plane.line(f"tf_XLAEigen/{number}").event(op, start, duration, **stats)
    return xp.open(builder.write(folder / name))


HOSTILE = ["<img src=x onerror=alert(1)>", "</script>", '"\n\\', "\u202eabc", "🚀", "x" * 100_000, "", "=1+1"]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> xp.Profile:
    """Names that attack, times before zero, events without length or metadata, equal spans, crossing ones."""
    builder = SpaceBuilder()
    plane = builder.plane("/host:CPU")
    for number, name in enumerate(HOSTILE):
        plane.line(name or "python", timestamp_ns=-5).event(name, 0, 10 * number).event(name, 3, 0)
    line = plane.line("crossing")
    line.event("a", 0, 100).event("a", 50, 100).event("b", 50, 100).event("c", 149, 0).aggregated("d", 7, 50)
    line.message.events.add(metadata_id=999, offset_ps=20, duration_ps=5)
    builder.plane("/device:TPU:0").line("_counters_").event("power", 10, counter_value=5.5).event(
        "power", 30, counter_value=2.5
    ).event("<b>", 40, counter_value=1.0)
    return xp.open(builder.write(tmp_path_factory.mktemp("hostile")))


def test_hostile_names_are_bounded_and_everything_is_there(hostile):
    view = hostile.trace()
    every = view.frame.loc[view.frame["lanes"] > 0, "track"].tolist()
    answer = hostile.ask("trace_window", tracks=every)
    assert len(encode(answer.frame, answer.summary)) < 10_000
    assert len(encode(view.frame, view.summary)) < 10_000
    assert answer.frame["name"].dropna().str.len().max() <= 200
    drawn = view.window(tracks=[track(hostile, "thread", name="crossing")], pixels=8192)
    assert drawn["count"].sum() == 5  # the aggregated one has no place in time
    assert "(no name)" in drawn["name"].tolist()
    row = track(hostile, "thread", name="xxx")
    assert len(json.dumps(view.event(row, first_event(hostile, row)).summary)) < 10_000


def test_times_before_zero_are_drawn(hostile):
    view = hostile.trace()
    drawn = view.window(tracks=[track(hostile, "thread", name="<img")])
    assert int(view.summary["origin_ps"]) == -5000
    assert drawn["start_ps"].min() == 0


def test_counters_of_a_device_are_curves(hostile):
    row = track(hostile, "counter", name="power")
    drawn = hostile.trace().window(5000, 5040, 40, [row])
    assert drawn["value"].tolist() == [5.5, 2.5]
    assert drawn["start_ps"].tolist() == [5010, 5030]
    assert drawn["duration_ps"].tolist() == [20, 10]


def test_exports_can_be_read_whatever_the_names(hostile, tmp_path):
    text = hostile.trace().to_chrome_json(tmp_path / "out.json").read_text("ascii")
    assert "<" not in text
    events = json.loads(text)["traceEvents"]
    names = {event["name"] for event in events if event["ph"] == "X"}
    assert {name for name in HOSTILE if 0 < len(name) <= 1000} <= names
    assert max(map(len, names)) <= 1000
    assert min(event["ts"] for event in events if event["ph"] == "X") == 0
    assert [event["args"]["value"] for event in events if event["ph"] == "C" and event["name"] == "power"] == [5.5, 2.5]


def test_chrome_json_holds_every_event_exactly(cpu, tmp_path):
    import gzip

    path = cpu.trace().to_chrome_json(tmp_path / "out.json.gz")
    read: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    drawn = [event for event in read["traceEvents"] if event["ph"] == "X"]
    frame = cpu.trace().frame
    assert len(drawn) == frame.loc[~frame["kind"].isin(["utilization", "memory", "counter"]), "event_count"].sum()
    ops = cpu.data.hosts[0].ops
    op_thread = track(cpu, "ops", "CPU:0") * 256
    mine = [event for event in drawn if op_thread <= event["tid"] < op_thread + 256]
    assert sorted(round(event["dur"] * PS_PER_US) for event in mine) == sorted(ops.duration_ps.tolist())


def test_perfetto_packets_pair_up(hostile, tmp_path):
    data = hostile.trace().to_perfetto(tmp_path / "out.pftrace").read_bytes()
    packets = [dict(fields(body)) for _, body in fields(data)]
    slices = [dict(fields(packet[11])) for packet in packets if 11 in packet]
    begun, ended = (sum(each[9] == kind for each in slices) for kind in (1, 2))
    frame = hostile.trace().frame
    assert begun == ended == frame.loc[frame["kind"].isin(["thread", "python"]), "event_count"].sum()
    tracks = {dict(fields(packet[60]))[1] for packet in packets if 60 in packet}
    assert {each[11] for each in slices} <= tracks
    names = {dict(fields(entry))[2].decode() for packet in packets if 12 in packet for _, entry in fields(packet[12])}
    assert {name for name in HOSTILE if 0 < len(name) <= 1000} <= names


def fields(message: bytes) -> list[tuple[int, Any]]:
    """Return number and value of every field of a protobuf message."""
    found: list[tuple[int, Any]] = []
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        key = varint()
        if key & 7 == 0:
            found.append((key >> 3, varint()))
            continue
        size = varint() if key & 7 == 2 else 8
        found.append((key >> 3, message[at : at + size]))
        at += size
    return found


def test_forty_thousand_tracks_are_answered_at_once(tmp_path):
    builder = SpaceBuilder()
    plane = builder.plane("/host:CPU")
    for number in range(40_000):
        plane.line(f"pool/{number}").event("work", number * 1000, 500)
    profile = xp.open(builder.write(tmp_path))
    profile.trace().window(tracks=[3])
    begin = time.perf_counter()
    view = profile.trace()
    assert len(view.frame) == 40_002
    drawn = view.window(tracks=range(100, 1100), pixels=1000)
    assert drawn["count"].sum() == 1000
    found = view.search("work")
    assert found.summary["count"] == 40_000
    assert len(found.frame) <= 2000
    assert time.perf_counter() - begin < 20


def test_an_empty_profile_says_why(tmp_path):
    builder = SpaceBuilder()
    builder.task_environment(1000, 2000)
    view = xp.open(builder.write(tmp_path)).trace()
    assert view.notes
    assert len(view.window()["track"]) == 0
    assert view.selection().notes
    assert view.search("a").notes


def test_markers_are_kept_with_a_capture_of_our_own_alone(tmp_path, cpu_profile, hostile):
    import shutil

    from xprof_nb.runs import sidecar

    run = tmp_path / "plugins" / "profile" / "run"
    shutil.copytree(cpu_profile, run)
    (run / sidecar.FILE_NAME).unlink(missing_ok=True)
    sidecar.write(run, sidecar.Sidecar(name="mine"))
    profile = xp.open(run)
    marks = [{"id": "a", "name": "</script>", "color": "#f00", "time_ps": 12.5}]
    assert profile.ask("trace_marks", markers=marks).summary == {"markers": marks, "saved": True, "reason": None}
    assert xp.open(run).trace().summary["markers"] == marks
    assert profile.trace().summary["markers"] == marks
    assert sidecar.read(run).name == "mine"
    refused = hostile.ask("trace_marks", markers=marks)
    assert (refused.summary["saved"], refused.summary["markers"]) == (False, marks)
    assert "no capture of this tool" in refused.summary["reason"]
