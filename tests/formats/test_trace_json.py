"""Traces in JSON: what XProf and PyTorch export, whole or cut, opened like a profile."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xprof_nb as xp
from tests.xprof_oracle import ask_xprof
from xprof_nb.formats import trace_json

US = 10**6


def thread(pid: Any, tid: Any, process: str, name: str) -> list[dict[str, Any]]:
    return [
        {"ph": "M", "pid": pid, "name": "process_name", "args": {"name": process}},
        {"ph": "M", "pid": pid, "tid": tid, "name": "thread_name", "args": {"name": name}},
    ]


def event(pid: Any, tid: Any, name: str, ts: float, dur: float, **args: Any) -> dict[str, Any]:
    return {"ph": "X", "pid": pid, "tid": tid, "name": name, "ts": ts, "dur": dur, "args": args}


def write(folder: Path, content: Any, name: str = "host.trace.json") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    path = folder / name
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def tpu_events() -> list[dict[str, Any]]:
    """Two programs that have an op of one name, told apart by when they ran."""

    def op(ts: float, dur: float, **args: Any) -> dict[str, Any]:
        text = "%fusion.1 = f32[8] fusion(f32[8] %p)"
        shared = {"hlo_category": "loop fusion", "long_name": text, "tf_op": "jit(f)/add:", "source": "a.py:3"}
        return event(3, 3, "fusion.1", ts, dur, **shared, **args)

    return [
        *thread(3, 2, "/device:TPU:0", "XLA Modules"),
        *thread(3, 3, "/device:TPU:0", "XLA Ops"),
        *thread(701, 9, "/host:CPU", "main/9"),
        event(3, 2, "jit_f(11)", 10, 20, run_id="1"),
        event(3, 2, "jit_g(12)", 40, 20, run_id="2"),
        op(12.5, 4, model_flops="100", bytes_accessed="64"),
        op(20, 2, model_flops="100", bytes_accessed="64"),
        op(41, 8, model_flops="7", bytes_accessed="8"),
        event(701, 9, "train", 5, 30, step_num="4"),
    ]


def test_ops_runs_and_steps_of_a_tpu(tmp_path):
    profile = xp.open(write(tmp_path, {"displayTimeUnit": "ns", "traceEvents": tpu_events()}))
    rows = {row.program: row for row in profile.ops().frame.itertuples()}
    assert (rows["jit_f"].occurrences, rows["jit_f"].time_ps, rows["jit_f"].program_id) == (2, 6 * US, 11)
    assert (rows["jit_g"].occurrences, rows["jit_g"].time_ps, rows["jit_g"].program_id) == (1, 8 * US, 12)
    assert (rows["jit_f"].flops, rows["jit_f"].bytes_accessed) == (200, 128)
    assert (rows["jit_f"].category, rows["jit_f"].framework_op) == ("loop fusion", "jit(f)/add")
    assert rows["jit_f"].source == "a.py:3"
    runs = profile.data.hosts[0].runs
    assert runs.program.tolist() == ["jit_f", "jit_g"]
    assert runs.run_id.tolist() == [1, 2]
    assert profile.data.hosts[0].marks.number.tolist() == [4]
    assert any("no HLO" in note for note in profile.ops().notes)


@pytest.mark.parametrize("name", ["host.trace.json", "host.trace.json.gz"])
def test_a_folder_a_file_and_a_list_of_events(tmp_path, name):
    run = tmp_path / "logs" / "plugins" / "profile" / "run"
    path = write(run, tpu_events(), name)
    for opened in (run, path, tmp_path / "logs"):
        profile = xp.open(opened)
        assert profile.hosts == ("host",)
        assert len(profile.ops().frame) == 2


def test_an_xplane_in_the_folder_says_more(tmp_path, corpus):
    (file,) = (corpus / "tpu-v6e-psum").rglob("*.xplane.pb")
    write(tmp_path, tpu_events())
    shutil.copy(file, tmp_path / "worker.xplane.pb")
    assert xp.open(tmp_path).hosts == ("worker",)


@pytest.mark.parametrize("form", ["object", "list", "gzip"])
def test_a_trace_that_ends_early_gives_what_is_whole(tmp_path, form):
    events = tpu_events()
    whole = json.dumps(events if form == "list" else {"traceEvents": events}).encode()
    cut = whole[: whole.rindex(b'"train"')]
    if form == "gzip":
        name, cut = "host.trace.json.gz", gzip.compress(whole, 0)[:-60]
        (tmp_path / name).write_bytes(cut)
        path = tmp_path / name
    else:
        path = write(tmp_path, cut)
    profile = xp.open(path)
    assert len(profile.ops().frame) == 2
    assert any("only up to event" in note for note in profile.notes)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"[]",
        b'{"a": 1}',
        b"nonsense",
        b'{"traceEvents": 3}',
        b'{"traceEvents": []}',
        b"\x1f\x8b\0",
        b"[" * 9000,
    ],
)
def test_other_json_is_refused_with_its_name(tmp_path, content):
    path = tmp_path / "host.trace.json"
    path.write_bytes(content)
    with pytest.raises(xp.ProfileError, match="host"):
        xp.open(path)


def test_odd_events_do_no_harm(tmp_path):
    odd = [
        None,
        7,
        {},
        {"ph": "X"},
        {"ph": "X", "pid": [1], "tid": {}, "name": {"a": 1}, "ts": "12.5", "dur": None, "args": 3},
        {"ph": "X", "pid": 1, "tid": 1, "name": "late", "ts": 1e300, "dur": float("nan")},
        {"ph": "X", "pid": 1, "tid": 1, "name": "back", "ts": 30, "dur": -5, "args": {"big": 2**70, "n": None}},
        {"ph": "M", "pid": 1, "name": "process_name", "args": {"name": 3}},
        {"ph": "s", "id": 1},
        {"ph": "E", "pid": 1, "tid": 1},
    ]
    profile = xp.open(write(tmp_path, {"traceEvents": odd}))
    frame = profile.events().frame
    assert len(frame) == 4
    assert (frame["duration_ps"] >= 0).all()
    assert any("1 flow" in note for note in profile.notes)


def test_begin_and_end_events_make_one(tmp_path):
    events = [
        {"ph": phase, "pid": 1, "tid": 1, "name": "n", "ts": ts}
        for phase, ts in zip("BBEE", (0, 1, 3, 10), strict=True)
    ]
    frame = xp.open(write(tmp_path, events)).events().frame
    assert frame["duration_ps"].tolist() == [10 * US, 2 * US]


def test_an_export_at_its_limit_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(trace_json, "EXPORT_LIMIT", 5)
    notes = xp.open(write(tmp_path, tpu_events())).notes
    assert any("exports to JSON stop at about 5" in note for note in notes)


def torch_trace() -> dict[str, Any]:
    launch = {"grid": [160, 1, 1], "block": [256, 1, 1], "registers per thread": 38, "shared memory": 1024}

    def kernel(name: str, ts: float, dur: float, category: str = "kernel", **args: Any) -> dict[str, Any]:
        return {**event(0, 7, name, ts, dur, device=0, stream=7, **args), "cat": category}

    return {
        "schemaVersion": 1,
        "deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-40GB", "totalGlobalMem": 42298834944, "numSms": 108}],
        "baseTimeNanoseconds": 1_790_000_000 * 10**9,
        "traceEvents": [
            *thread(0, 7, "python", "stream 7"),
            *thread(900, 900, "python", "thread 900 (python)"),
            {**event(900, 900, "ProfilerStep#3", 2_000_000_000_010.5, 50), "cat": "user_annotation"},
            {**event(900, 900, "ProfilerStep#4", 2_000_000_000_070.5, 50), "cat": "user_annotation"},
            {**event(900, 900, "cudaLaunchKernel", 2_000_000_000_015.0, 1, correlation=1), "cat": "cuda_runtime"},
            kernel("gemm", 2_000_000_000_020.0, 8, correlation=1, **launch, **{"est. achieved occupancy %": 50}),
            kernel("gemm", 2_000_000_000_030.0, 6, correlation=2, **launch, **{"est. achieved occupancy %": 50}),
            kernel("Memcpy HtoD (Pageable -> Device)", 2_000_000_000_040.0, 4, "gpu_memcpy", bytes=4096),
        ],
    }


def test_kernels_of_pytorch_are_on_streams_of_their_device(tmp_path):
    profile = xp.open(write(tmp_path, torch_trace(), "worker.pt.trace.json"))
    frame = profile.events().frame
    on_device = frame[frame["plane"] == "/device:GPU:0"]
    assert on_device["line"].unique().tolist() == ["Stream #7"]
    assert on_device["kernel_details"].tolist()[0] == "regs:38 shm:1024 grid:160,1,1 block:256,1,1 occ_pct:50"
    assert on_device["memcpy_details"].tolist()[2] == "size:4096"
    assert frame["start_ps"].tolist()[0] == 500_000  # whole microseconds of the first event are the origin
    assert profile.data.hosts[0].session_ns[0] == 1_790_000_000 * 10**9 + 2_000_000_000_010_000
    numbers = frame.loc[frame["name"].str.startswith("ProfilerStep"), "step_num"]
    assert numbers.tolist() == [3, 4]


def test_kernels_of_pytorch_have_their_launch_shape(tmp_path):
    pytest.importorskip("xprof_nb.analysis.kernels")
    profile = xp.open(write(tmp_path, torch_trace(), "worker.pt.trace.json"))
    assert [(device.name, device.model) for device in profile.devices] == [("GPU:0", "NVIDIA A100-SXM4-40GB")]
    rows = profile.kernels().frame.set_index("kernel")
    gemm, copy = rows.loc["gemm"], rows.loc["Memcpy HtoD (Pageable -> Device)"]
    assert (gemm["occurrences"], gemm["time_ps"]) == (2, 14 * US)
    assert (gemm["grid"], gemm["block"], gemm["registers_per_thread"]) == ("160,1,1", "256,1,1", 38)
    assert (gemm["static_shared_bytes"], gemm["occupancy_fraction"]) == (1024, 0.5)
    assert (copy["kind"], copy["bytes"], copy["time_ps"]) == ("host-to-device copy", 4096, 4 * US)
    assert profile.steps().frame["step"].unique().tolist() == [3, 4]


def test_the_export_of_a_gpu_gives_its_kernels(corpus, tmp_path):
    pytest.importorskip("xprof_nb.analysis.kernels")
    (file,) = (corpus / "mi300x-jax-conv").rglob("*.xplane.pb")
    columns = ["device", "kernel", "grid", "block"]
    exported = xp.open(write(tmp_path, ask_xprof(file, "trace_viewer"))).kernels().frame.groupby(columns)
    recorded = xp.open(file).kernels().frame.groupby(columns)
    assert exported["time_ps"].sum().to_dict() == recorded["time_ps"].sum().to_dict()
    assert exported["occurrences"].sum().to_dict() == recorded["occurrences"].sum().to_dict()


def test_ranks_of_pytorch_are_hosts_on_one_clock(tmp_path):
    late = torch_trace()
    late["baseTimeNanoseconds"] += 7_000_000
    write(tmp_path, torch_trace(), "rank0.pt.trace.json")
    write(tmp_path, late, "rank1.pt.trace.json")
    profile = xp.open(tmp_path)
    assert profile.hosts == ("rank0.pt", "rank1.pt")
    assert any("rank1.pt +7.000 ms" in note for note in profile.notes)


def test_a_recorded_trace_of_vllm(corpus):
    profile = xp.open(corpus / "tpu-vllm-trace")
    assert [device.name for device in profile.devices] == ["TPU:0", "TPU:1"]
    frame = profile.ops().frame
    assert frame["occurrences"].sum() == 2 * 3454
    assert set(frame["program"]) >= {"jit_step_fun", "jit_sample"}
    assert frame["source"].notna().any()
    module = profile.events(r"^jit_step_fun\(").frame
    assert module["duration_ps"].tolist() == [66976312125, 66914493397]
    assert profile.sql("SELECT count(*) AS n FROM events").frame["n"].tolist() == [10312]


def test_the_export_of_a_profile_gives_the_ops_of_the_profile(corpus, tmp_path):
    (file,) = (corpus / "tpu-v6e-psum").rglob("*.xplane.pb")
    exported = xp.open(write(tmp_path, ask_xprof(file, "trace_viewer"))).ops().frame
    recorded = xp.open(file).ops().frame
    key = ["device", "program_id", "op"]
    both = recorded.merge(exported, on=key, suffixes=("", "_json"), how="inner")
    assert len(both) == len(recorded) == len(exported)
    for column in ("time_ps", "self_time_ps", "model_flops", "bytes_accessed"):
        np.testing.assert_allclose(both[column + "_json"], both[column], rtol=1e-6)
    assert (both["occurrences_json"] == both["occurrences"]).all()
    assert (both["category_json"] == both["category"]).all()
