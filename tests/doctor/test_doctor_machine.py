"""Limits of containers, and rights to GPU counters, as the kernel of the machine states them."""

from __future__ import annotations

from pathlib import Path

import pytest

from xprof_nb.doctor.machine import nvidia_counters, processors, rocm_access


def made(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


MEMINFO = {"proc/meminfo": "MemTotal:       16777216 kB\nMemFree: 1 kB\n"}


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"sys/fs/cgroup/cpu.max": "400000 100000\n", "sys/fs/cgroup/memory.max": "max\n"}, "4 CPUs, 16.0 GiB"),
        ({"sys/fs/cgroup/cpu.max": "50000 100000\n", "sys/fs/cgroup/memory.max": "1073741824"}, "0.5 CPUs, 1.00 GiB"),
        (
            {"sys/fs/cgroup/cpu/cpu.cfs_quota_us": "200000", "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000"},
            "2 CPUs, 16.0 GiB",
        ),
        ({"sys/fs/cgroup/cpu.max": "max 100000\n"}, "64 CPUs, 16.0 GiB"),
        ({"sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1", "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000"}, "64 CPUs"),
    ],
)
def test_what_a_container_may_use_is_what_is_said(tmp_path, monkeypatch, files, said) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(64)), raising=False)
    assert processors(made(tmp_path, {**MEMINFO, **files})).found.startswith(said)


RESTRICTED = {"proc/driver/nvidia/params": "ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 1\n"}
NOBODY = {"proc/self/status": "Name:\tpython\nCapEff:\t0000000000000000\n"}


def test_a_driver_that_keeps_counters_for_administrators_is_named_with_the_cure(tmp_path) -> None:
    (finding,) = nvidia_counters(made(tmp_path, {**RESTRICTED, **NOBODY}))
    assert finding.state == "warning"
    assert "RmProfilingAdminOnly" in finding.found
    assert "NVreg_RestrictProfilingToAdminUsers=0" in finding.cure


@pytest.mark.parametrize(
    "files",
    [
        {"proc/driver/nvidia/params": "RmProfilingAdminOnly: 0\n", **NOBODY},
        {**RESTRICTED, "proc/self/status": "CapEff:\t0000000000200000\n"},  # CAP_SYS_ADMIN alone
    ],
)
def test_a_process_that_may_use_counters_hears_so(tmp_path, files) -> None:
    assert [finding.state for finding in nvidia_counters(made(tmp_path, files))] == ["ok"]


def test_rights_that_cannot_be_read_are_not_taken_for_granted(tmp_path) -> None:
    assert [one.state for one in nvidia_counters(made(tmp_path, RESTRICTED))] == ["warning"]


def test_a_machine_without_gpus_hears_nothing_of_them(tmp_path) -> None:
    assert [*nvidia_counters(tmp_path), *rocm_access(tmp_path)] == []


def test_nodes_of_amd_that_are_closed_are_named(tmp_path, monkeypatch) -> None:
    made(tmp_path, {"dev/kfd": "", "dev/dri/renderD128": ""})
    assert [one.state for one in rocm_access(tmp_path)] == ["ok"]
    monkeypatch.setattr("os.access", lambda node, _: "renderD" not in str(node))
    (finding,) = rocm_access(tmp_path)
    assert finding.state == "warning"
    assert "renderD128" in finding.found
    assert "render,video" in finding.cure
