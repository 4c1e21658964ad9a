"""Recorded GPU profiles: every row equal to xprof's where it has one, and to protobuf's reading of the file."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xprof_nb as xp
from tests.formats.xspace_messages import parse
from tests.xprof_oracle import ask_xprof, rows_of

CLOSE = 1e-6
FILES = ["mi300x-jax-gemm", "mi300x-jax-conv", "mi350-te-attention", "v100-tf"]
DERIVED = {"Steps", "TensorFlow Ops", "TensorFlow Name Scope"}


@pytest.fixture(scope="module", params=FILES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def file(corpus: Path, name: str) -> Path:
    (found,) = (corpus / name).rglob("*.xplane.pb")
    return found


@pytest.fixture(scope="module")
def profile(file: Path) -> xp.Profile:
    return xp.open(file)


def number(value: float) -> float:
    return 0.0 if np.isnan(value) else value


def events_of(file: Path) -> Iterator[tuple[str, str, Any, dict[str, Any]]]:
    """Yield plane, event name, event and its stats, of every stream of every GPU, as protobuf reads them."""
    for plane in parse(file.read_bytes()).planes:
        if not plane.name.startswith("/device:GPU:"):
            continue
        names = {key: value.name for key, value in plane.stat_metadata.items()}
        for line in plane.lines:
            if line.name in DERIVED:
                continue
            for event in line.events:
                stats = {}
                for stat in event.stats:
                    kind = stat.WhichOneof("value")
                    value = getattr(stat, kind)
                    stats[names[stat.metadata_id]] = names[value] if kind == "ref_value" else value
                yield plane.name, plane.event_metadata[event.metadata_id].name, event, stats


def test_ops_equal_xprofs_hlo_stats(profile: xp.Profile, file: Path) -> None:
    rows = rows_of(ask_xprof(file, "hlo_stats"))
    ours = profile.ops(compat="xprof").frame
    assert {(str(row.program_id), row.op) for row in ours.itertuples()} == {
        (row["program_id"], row["hlo_op_name"]) for row in rows
    }
    found = ours.set_index(["program_id", "op"])
    for row in rows:
        one = found.loc[int(row["program_id"]), row["hlo_op_name"]]
        assert one["occurrences"] == row["occurrences"]
        assert one["category"] == row["category"]
        assert one["bound_by"] == row["bound_by"]
        assert (one["framework_op"] or "") == row["tf_op_name"].rstrip(":")
        for mine, theirs in (
            (one["time_ps"] / 1e6, row["total_time"]),
            (one["self_time_ps"] / 1e6, row["total_self_time"]),
            (one["time_fraction"] * 100, row["total_self_time_percent"]),
            (one["flops_per_s"] / 1e9, row["normalized_flop_rate"]),
            (one["model_flops"] / one["time_ps"] * 1e3, row["model_flop_rate"]),
            (one["bytes_per_s"] / 2**30, row["measured_memory_bw"]),
            (one["hbm_bytes_per_s"] / 2**30, row["hbm_bw"]),
            (one["arithmetic_intensity"], row["operational_intensity"]),
        ):
            assert number(mine) == pytest.approx(theirs, rel=CLOSE), row["hlo_op_name"]


def test_kernels_equal_xprofs_kernel_stats(profile: xp.Profile, file: Path) -> None:
    rows = rows_of(ask_xprof(file, "kernel_stats"))
    ours = profile.kernels(compat="xprof").frame
    assert len(rows) > 5
    assert ours["kernel"].tolist() == [row["kernel_name"] for row in rows]
    for one, row in zip(ours.itertuples(), rows, strict=True):
        assert (one.op or "", one.grid, one.block) == (row["op_name"], row["grid_dim"], row["block_dim"])
        assert one.occurrences == row["occurrences"]
        assert one.time_ps == pytest.approx(row["total_duration_us"] * 1e6, rel=1e-12)
        assert one.mean_time_ps == pytest.approx(row["avg_duration_us"] * 1e6, rel=1e-12)
        assert one.min_time_ps == pytest.approx(row["min_duration_us"] * 1e6, rel=1e-12)
        assert one.max_time_ps == pytest.approx(row["max_duration_us"] * 1e6, rel=1e-12)
        assert (one.registers_per_thread, one.shared_bytes) == (row["registers_per_thread"], row["shmem_bytes"])
        assert one.occupancy_fraction * 100 == row["occupancy_pct"]
        assert one.uses_tensor_cores == row["is_kernel_using_tensor_core"]
        assert one.tensor_core_eligible == row["is_op_tensor_core_eligible"]


@pytest.mark.parametrize(("by", "tree"), [("program", "byProgram"), ("category", "byCategory")])
def test_the_op_profile_equals_xprofs(profile: xp.Profile, file: Path, name: str, by: Any, tree: str) -> None:
    root = ask_xprof(file, "op_profile", group_by=by)[tree]
    frame = profile.op_profile(by=by, compat="xprof").frame
    at = {row.node: row for row in frame.itertuples()}

    def path_of(row: Any) -> tuple[str, ...]:
        if row.kind in ("root", "group"):
            return () if row.kind == "root" else path_of(at[row.parent])
        return (*path_of(at[row.parent]), "IDLE" if row.kind == "idle" else row.name.split("  ")[0])

    ours: dict[tuple[str, ...], list[Any]] = defaultdict(list)
    for row in frame[frame["kind"] != "group"].itertuples():
        ours[path_of(row)].append(row)
    total_ps = root["metrics"]["rawTime"]
    compared = 0
    for node, path in walk(root):
        metrics = node["metrics"]
        same = [
            row for row in ours[path] if row.kind == "fused" or row.self_time_ps == pytest.approx(metrics["rawTime"])
        ]
        assert same, path
        if same[0].kind == "fused":
            continue
        compared += 1
        row = min(same, key=lambda row: abs(number(row.flops) - metrics["rawFlops"]))
        assert number(row.flops) == pytest.approx(metrics["rawFlops"], rel=CLOSE), path
        assert row.time_fraction == pytest.approx(metrics["rawTime"] / total_ps, rel=CLOSE)
        uncapped = number(row.flops_utilization * row.time_fraction)
        assert uncapped == pytest.approx(metrics["uncappedFlops"], rel=CLOSE), path
        assert min(1, number(row.hbm_utilization)) == pytest.approx(metrics["bandwidthUtils"][0], rel=CLOSE), path
    assert compared > 5 or name == "v100-tf"  # without HLO xprof shows idle time alone


def walk(node: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[dict[str, Any], tuple[str, ...]]]:
    """Yield the nodes below one with their paths, less the groups of duplicates: xprof also groups by the bare name."""
    is_group = path and path[-1].endswith(" and its duplicate(s)")
    if not is_group:
        yield node, path
    for child in node.get("children", []):
        yield from walk(child, (*(path[:-1] if is_group else path), child["name"]))


def test_duplicates_are_grouped_as_xprof_does(corpus: Path) -> None:
    frame = xp.open(corpus / "mi350-te-attention").op_profile().frame
    groups = frame[frame["kind"] == "group"].set_index("name")["self_time_ps"]
    assert groups.loc["gemm_fusion_dot and its duplicates"] == pytest.approx(1_713_255_000, rel=1e-3)
    assert len(groups) == 2


def test_framework_ops_equal_xprofs(profile: xp.Profile, file: Path) -> None:
    rows = rows_of(ask_xprof(file, "framework_op_stats")[0])
    rows = [row for row in rows if row["host_or_device"] == "Device"]
    ours = profile.framework_ops(compat="xprof").frame
    ours = ours[ours["on"] == "Device"]
    assert ours["name"].tolist() == [row["operation"] for row in rows]
    for one, row in zip(ours.itertuples(), rows, strict=True):
        assert (one.type, one.occurrences, one.bound_by) == (row["type"], row["occurrences"], row["bound_by"])
        for mine, theirs in (
            (one.time_ps / 1e6, row["total_time"]),
            (one.self_time_ps / 1e6, row["total_self_time"]),
            (one.time_fraction, row["device_total_self_time_percent"]),
            (one.flops_per_s / 1e9, row["measured_flop_rate"]),
            (one.bytes_per_s / 2**30, row["measured_memory_bw"]),
            (one.arithmetic_intensity, row["operational_intensity"]),
        ):
            assert mine == pytest.approx(theirs, rel=CLOSE), row["operation"]


def test_the_roofline_equals_xprofs(profile: xp.Profile, file: Path) -> None:
    table = ask_xprof(file, "roofline_model")[0]
    result = profile.roofline(compat="xprof")
    rows = rows_of(table)
    assert result.summary["peak_flops_per_s"] / 1e9 == pytest.approx(float(table["p"]["peak_flop_rate"]), rel=1e-5)
    assert result.summary["peak_bytes_per_s"] / 2**30 == pytest.approx(float(table["p"]["peak_hbm_bw"]), rel=1e-5)
    assert result.frame["op"].tolist() == [row["operation"] for row in rows]
    for one, row in zip(result.frame.itertuples(), rows, strict=True):
        assert (one.category, one.occurrences, one.bound_by) == (row["category"], row["occurrences"], row["bound_by"])
        for mine, theirs in (
            (one.time_ps / 1e6, row["total_time"]),
            (one.time_per_core_ps / 1e6, row["total_time_per_core"]),
            (one.time_fraction, row["total_time_in_percentage"]),
            (one.flops_per_s / 1e9, row["measured_flop_rate"]),
            (one.hbm_bytes_per_s / 2**30, row["hbm_bw"]),
            (one.hbm_arithmetic_intensity, row["hbm_operational_intensity"]),
            (one.optimal_flops_per_s / 1e9, row["optimal_flop_rate"]),
            (one.efficiency_fraction, row["roofline_efficiency"]),
            (one.flops_utilization, row["compute_efficiency"]),
            (one.memory_utilization, row["max_mem_bw_utilization"]),
        ):
            assert mine == pytest.approx(theirs, rel=CLOSE), row["operation"]


def test_the_idle_share_equals_xprofs(profile: xp.Profile, file: Path, name: str) -> None:
    rows = rows_of(ask_xprof(file, "framework_op_stats")[0])
    (idle,) = [row for row in rows if row["host_or_device"] == "Device" and row["operation"] == "IDLE"]
    ours = profile.ops(compat="xprof").summary
    assert ours["idle_time_ps"] == pytest.approx(idle["total_time"] * 1e6, rel=CLOSE)


def test_kernel_times_equal_protobufs_reading(profile: xp.Profile, file: Path) -> None:
    times: Counter[tuple[str, str]] = Counter()
    launches: Counter[tuple[str, str]] = Counter()
    for plane, kernel, event, _ in events_of(file):
        times[plane.removeprefix("/device:"), kernel] += event.duration_ps
        launches[plane.removeprefix("/device:"), kernel] += 1
    frame = profile.kernels().frame.groupby(["device", "kernel"])[["time_ps", "occurrences"]].sum()
    assert frame["time_ps"].to_dict() == dict(times)
    assert frame["occurrences"].to_dict() == dict(launches)
    assert profile.ops().frame["time_ps"].sum() == sum(times.values())


def test_busy_time_is_the_union_of_the_streams(profile: xp.Profile, file: Path) -> None:
    spans: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for plane, _, event, _ in events_of(file):
        spans[plane].append((event.offset_ps, event.offset_ps + event.duration_ps))
    busy = 0
    for of_device in spans.values():
        reached = -1
        for begin, end in sorted(of_device):
            busy += max(0, end - max(begin, reached))
            reached = max(reached, end)
    assert profile.ops().summary["busy_time_ps"] == pytest.approx(busy, rel=1e-12)


def test_trees_add_up(profile: xp.Profile) -> None:
    busy = profile.ops().summary["busy_time_ps"]
    for by in ("program", "category", "framework", "source"):
        frame = profile.op_profile(by=by).frame  # type: ignore[arg-type]
        timed = frame[frame["kind"] != "fused"]
        assert timed.loc[timed["kind"] == "op", "self_time_ps"].sum() == pytest.approx(busy)
        sums = timed.groupby("parent")["self_time_ps"].sum()
        own = timed.set_index("node")["self_time_ps"]
        for node, total in sums.items():
            if node >= 0:
                assert own[node] == pytest.approx(total), (by, node)


def test_every_op_of_xla_ran_once_a_run(corpus: Path) -> None:
    """An op of several kernels is one occurrence; what the driver lost of an op is missing, not made up."""
    profile = xp.open(corpus / "mi300x-jax-conv")
    trace = profile.data.hosts[0]
    assert Counter(trace.runs.device.tolist()) == dict.fromkeys(range(8), 5)
    frame = profile.ops(program="jit_forward_3d_conv").frame
    assert frame.groupby("op")["occurrences"].sum().to_dict() == {
        "cudnn-conv.1": 40,
        "input_transpose_fusion": 40,
        "input_transpose_fusion.1": 39,
        "loop_transpose_fusion": 40,
    }
    attention = xp.open(corpus / "mi350-te-attention")
    assert set(attention.ops().frame["occurrences"]) == {5}
    assert attention.steps().summary["step_count"] >= 3


def test_work_nobody_states_is_unknown_and_said(corpus: Path) -> None:
    result = xp.open(corpus / "mi350-te-attention").overview()
    assert any("te_fused_attn_backward_ffi" in note and "lower bounds" in note for note in result.notes)
    assert result.summary["bound_by"] is None


def test_library_calls_have_flops(corpus: Path) -> None:
    """One GEMM of (8192x4096)@(4096x8192) on an MI300X; xprof counts nothing of it."""
    profile = xp.open(corpus / "mi300x-jax-gemm")
    result = profile.ops(program=49)
    row = result.frame.iloc[0]
    assert row["flops"] == 3 * 2 * 8192 * 8192 * 4096
    assert row["work_kind"] == "matrix"
    assert row["flops_utilization"] == pytest.approx(row["flops"] / (row["time_ps"] * 1e-12) / 1307.4e12)
    assert 0.5 < row["flops_utilization"] < 1
    assert result.summary["peak_flops_dtype"] == "bf16"
    convolution = xp.open(corpus / "mi300x-jax-conv").ops().frame.set_index("op").loc["cudnn-conv.1"].iloc[0]
    # 16 input and 5120 output channels; a kernel of 1x2x2 at its own stride meets each of 32x60x104 inputs once.
    assert convolution["flops"] / convolution["occurrences"] == 2 * 16 * 5120 * 32 * 60 * 104


def test_tensorflow_ops_are_known_without_hlo(corpus: Path) -> None:
    profile = xp.open(corpus / "v100-tf")
    frame = profile.ops().frame
    assert (frame["framework_op"].notna()).mean() > 0.99
    cast = frame[frame["category"] == "Cast"]
    assert len(cast) > 100
    assert cast["op"].str.contains("replica_").all()
    tree = profile.op_profile(by="framework").frame
    assert {"replica_4", "replica_6", "bert_span_labeler"} <= set(tree["name"])
    copies = profile.kernels().frame
    assert copies[copies["kind"] == "host-to-device copy"]["bytes"].notna().all()


def test_copies_of_rocm_take_their_direction_from_the_host(corpus: Path) -> None:
    frame = xp.open(corpus / "mi300x-jax-gemm").kernels().frame
    copies = frame[frame["kernel"] == "__amd_rocclr_copyBuffer.kd"].set_index("kind")["occurrences"]
    assert copies.to_dict() == {"host-to-device copy": 12, "device-to-device copy": 12}


def test_starting_the_tracer_is_no_idle_time(corpus: Path) -> None:
    """Starting ROCm's tracer took 9.7 s of this capture, in which nothing could be recorded."""
    profile = xp.open(corpus / "mi350-te-attention")
    begin, end = profile.data.hosts[0].window_ps
    assert end - begin < 0.02e12
    assert profile.ops().summary["idle_fraction"] < 0.5
