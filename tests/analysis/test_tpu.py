"""A TPU profile: equal to xprof where it is right, corrected where it is not."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import xprof_nb as xp

EXACT = 1e-9
GIGA_TO_GIBI = 1e9 / 2**30
PROFILE_NS = 1741722197726153802 - 1741722099081044120
CORES = 4


@pytest.fixture(scope="module")
def file(corpus: Path) -> Path:
    (found,) = corpus.glob("tpu-v6e-psum/plugins/profile/*/*.xplane.pb")
    return found


@pytest.fixture(scope="module")
def profile(file: Path) -> xp.Profile:
    return xp.open(file)


@pytest.fixture(scope="module")
def ask_xprof(file: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    converter = pytest.importorskip("xprof.convert.raw_to_tool_data")
    copy = shutil.copy(file, tmp_path_factory.mktemp("xprof"))  # xprof writes its cache beside its input

    def ask(tool: str, **options: Any) -> Any:
        data, _ = converter.xspace_to_tool_data([str(copy)], tool, {"use_saved_result": False, **options})
        return json.loads(data)

    return ask


def rows_of(table: dict[str, Any]) -> list[dict[str, Any]]:
    ids = [column["id"] for column in table["cols"]]
    return [dict(zip(ids, (cell.get("v") for cell in row["c"]), strict=True)) for row in table["rows"]]


def test_devices_and_their_stated_peaks(profile: xp.Profile) -> None:
    assert [device.name for device in profile.devices] == [f"TPU:{n}" for n in range(CORES)]
    assert [device.chip for device in profile.devices] == [0, 1, 2, 3]
    peaks = profile.devices[0].peaks
    assert peaks.reference is not None
    assert (peaks.reference_dtype, peaks.reference.value, peaks.reference.label) == ("bf16", 918e12, "profile")
    assert peaks.hbm is not None
    assert peaks.hbm.value == pytest.approx(1637.993152512e9, rel=EXACT)


def test_ops_equal_xprofs_hlo_stats(profile: xp.Profile, ask_xprof: Any) -> None:
    expected = {(int(row["program_id"]), row["hlo_op_name"]): row for row in rows_of(ask_xprof("hlo_stats"))}
    found = profile.ops(compat="xprof").frame.set_index(["program_id", "op"])
    assert {(int(program), op) for program, op in found.index} == set(expected)
    for key, row in expected.items():
        ours = found.loc[key]
        assert ours["occurrences"] == row["occurrences"]
        assert ours["category"] == row["category"]
        assert ours["time_ps"] == pytest.approx(row["total_time"] * 1e6, rel=EXACT)
        assert ours["self_time_ps"] == pytest.approx(row["total_self_time"] * 1e6, rel=EXACT)
        assert ours["time_fraction"] * 100 == pytest.approx(row["total_self_time_percent"], rel=EXACT)
        assert ours["flops_per_s"] / 1e9 == pytest.approx(row["normalized_flop_rate"], rel=EXACT)
        assert ours["bytes_per_s"] / 2**30 == pytest.approx(row["measured_memory_bw"], rel=EXACT)
        assert ours["hbm_bytes_per_s"] / 2**30 == pytest.approx(row["hbm_bw"], rel=EXACT)
        assert ours["bound_by"] == row["bound_by"]
        assert (ours["framework_op"] or "") == row["tf_op_name"].rstrip(":")


@pytest.mark.parametrize(("by", "tree"), [("program", "byProgram"), ("category", "byCategory")])
def test_the_op_profile_equals_xprofs(profile: xp.Profile, ask_xprof: Any, by: Any, tree: str) -> None:
    root = ask_xprof("op_profile", group_by=by)[tree]
    result = profile.op_profile(by=by, compat="xprof")
    ours = {
        row.key.rpartition("/")[0] + "/" + row.name.split("  ")[0]: row for row in result.frame.itertuples(index=False)
    }
    ours_by_name: dict[tuple[str, str], Any] = {(row.kind, row.name.split("  ")[0]): row for row in ours.values()}
    total_ps = root["metrics"]["rawTime"]
    assert total_ps == 363_729_698_768_750
    compared = 0
    for node, path in walk(root):
        row = found(ours_by_name, node, path)
        if row is None:
            continue
        compared += 1
        metrics = node["metrics"]
        assert row.self_time_ps == pytest.approx(metrics["rawTime"], rel=EXACT), path
        assert zero_if_missing(row.flops) == pytest.approx(metrics["rawFlops"], rel=EXACT), path
        assert row.time_fraction == pytest.approx(metrics["rawTime"] / total_ps, rel=EXACT)
        uncapped = row.flops_utilization * row.time_fraction
        assert zero_if_missing(uncapped) == pytest.approx(metrics["uncappedFlops"], rel=EXACT), path
        hbm = min(1, zero_if_missing(row.hbm_utilization))
        assert hbm == pytest.approx(metrics["bandwidthUtils"][0], rel=1e-6), path
    assert compared >= 20


def zero_if_missing(value: float) -> float:
    return 0.0 if value != value else value  # noqa: PLR0124


def walk(node: dict[str, Any], path: tuple[str, ...] = ()) -> Any:
    yield node, path
    for child in node.get("children", []):
        yield from walk(child, (*path, child["name"]))


def found(ours: dict[tuple[str, str], Any], node: dict[str, Any], path: tuple[str, ...]) -> Any:
    if not path:
        return next(row for (kind, _), row in ours.items() if kind == "root")
    if node["name"] == "IDLE":
        return ours.get(("idle", "idle"))
    if "xla" in node:
        return ours.get(("op", node["name"]))
    return next((row for (kind, name), row in ours.items() if name == node["name"] and kind != "op"), None)


def test_the_duty_cycle_equals_xprofs(profile: xp.Profile, ask_xprof: Any) -> None:
    stated = ask_xprof("overview_page")[0]["p"]["device_duty_cycle_percent"]
    ours = profile.overview().summary["device_duty_cycle_fraction"]
    assert f"{ours * 100:.1f}%" == stated == "86.5%"


def test_the_window_is_the_capture_with_both_idle_edges(profile: xp.Profile) -> None:
    summary = profile.ops().summary
    assert summary["busy_time_ps"] == 315_117_903_706_250
    assert summary["total_time_ps"] == CORES * PROFILE_NS * 1000
    assert summary["idle_fraction"] == pytest.approx(1 - 315_117_903_706_250 / (CORES * PROFILE_NS * 1000), rel=EXACT)


def test_bytes_of_an_asynchronous_copy_count_once_over_the_time_they_travelled(profile: xp.Profile) -> None:
    frame = profile.ops(device="TPU:0").frame.set_index("op")
    assert frame.filter(like="copy-start", axis=0)["bytes_accessed"].isna().all()
    for name in ("copy-done", "copy-done.1", "copy-done.4"):
        row = frame.loc[name]
        assert row["bytes_accessed"] == 100 * 5_368_709_120
        # Host links carry tens of GB/s; xprof shows 1.7e9 GiB/s for copy-done.1.
        assert 1e9 < row["bytes_per_s"] < 100e9
        assert row["bound_by"] == "host"
    assert (frame["hbm_utilization"].dropna() <= 1).all()


def test_transfers_equal_the_asynchronous_line_of_the_profile(profile: xp.Profile) -> None:
    """TPU:0 also records each copy as one event from start to done, on the host's clock."""
    trace = profile.data.hosts[0]
    rows = (trace.ops.device == 0) & (trace.keys.op[trace.ops.key] == "copy-done")
    assert rows.sum() == 100
    first_ps = trace.ops.transfer_ps[rows][0]
    assert first_ps == pytest.approx(189_172_518_906, rel=1e-6)


def test_children_of_the_op_profile_add_up_to_their_parent(profile: xp.Profile) -> None:
    for by in ("program", "category", "framework", "source"):
        frame = profile.op_profile(by=by).frame
        timed = frame[frame["kind"] != "fused"]
        inner = timed[timed["children_total"] > 0]
        for row in inner.itertuples():
            below = timed[timed["parent"] == row.node]
            if len(below):
                assert below["self_time_ps"].sum() == pytest.approx(row.self_time_ps, rel=EXACT), (by, row.name)


def test_steps_are_inferred_from_the_program_that_repeats(profile: xp.Profile) -> None:
    steps = profile.steps()
    assert steps.summary["kind"] == "inferred"
    assert set(steps.frame["name"]) == {"jit_f"}
    assert (steps.frame.groupby("device").size() == 100).all()
    assert any("inferred" in note for note in steps.notes)


def test_filters_narrow_the_question(profile: xp.Profile) -> None:
    whole = profile.ops().frame
    one = profile.ops(device="TPU:2").frame
    assert set(one["device"]) == {"TPU:2"}
    assert one["self_time_ps"].sum() == pytest.approx(
        whole[whole["device"] == "TPU:2"]["self_time_ps"].sum(), rel=EXACT
    )
    assert set(profile.ops(program="jit__psum").frame["op"]) == {"all-reduce"}
    step = profile.ops(step=3, device="TPU:0")
    assert step.frame["occurrences"].max() == 1
    assert step.summary["total_time_ps"] == int(
        profile.steps().frame.query("step == 3 and device == 'TPU:0'")["duration_ps"].iloc[0]
    )
    with pytest.raises(xp.ProfileError, match="TPU:9"):
        profile.ops(device="TPU:9")
    with pytest.raises(xp.ProfileError, match="no program"):
        profile.ops(program="nonesuch")


def test_details_name_the_op_exactly(profile: xp.Profile) -> None:
    summary = profile.ask("op_details", program_id="12190760917235803885", op="broadcast_add_fusion.1").summary
    assert summary["opcode"] == "fusion"
    assert summary["category"] == "loop fusion"
    assert "f32[5,1024,1024,256]" in summary["hlo_text"]
    assert summary["framework_op"] == "jit(f)/jit(main)/add"
    assert summary["flops"] == 400 * 1_342_177_280
