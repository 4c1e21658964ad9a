"""What is stored and unseen, and how the report shows itself."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.runs.made import made_run
from tests.runs.test_manage import DATA, staged
from xprof_nb.doctor import Finding, Report, packages, storage
from xprof_nb.runs import manage


@pytest.fixture
def logdir(tmp_path, monkeypatch):
    monkeypatch.setenv("XPROF_NB_LOGDIR", str(tmp_path / "logs"))
    monkeypatch.setenv("XPROF_NB_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path / "logs"


def found(what: str) -> list[Finding]:
    return [finding for finding in storage.look() if finding.what == what]


def test_runs_that_were_left_or_thrown_away_are_named(logdir, tmp_path) -> None:
    staged(logdir / ".xprof-nb-x1", "train", DATA)
    staged(tmp_path / "xprof-nb-x2", "full disk", DATA)
    manage.discard(made_run(logdir, "old"))
    first, second = found("unsaved run")
    assert (first.state, "`restore 'train'`" in first.found) == ("warning", True)
    assert "full disk" in second.found
    (trash,) = found("trash")
    assert trash.found.startswith("1 run, ")


def test_a_log_dir_that_cannot_be_written_is_a_fault(logdir) -> None:
    logdir.write_text("a file")
    (finding,) = found("log dir")
    assert finding.state == "fault"
    assert "XPROF_NB_LOGDIR" in finding.cure


def test_a_cold_cache_and_one_that_cannot_be_written(logdir, tmp_path, monkeypatch) -> None:
    (kernels,) = found("kernels")
    assert kernels.state == "warning"
    (tmp_path / "cache/kernels/formats_x").mkdir(parents=True)
    (tmp_path / "cache/kernels/formats_x/wire.scan-1.py311.nbi").write_bytes(b"-")
    assert [kernel.state for kernel in found("kernels")] == ["ok"]
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XPROF_NB_CACHE_DIR", str(tmp_path / "file"))
    assert [cache.state for cache in found("cache")] == ["warning"]


def test_a_package_that_does_not_load_is_named_with_why(monkeypatch) -> None:
    done = subprocess.CompletedProcess([], 1, "", "Traceback\nTypeError: Descriptors cannot be created directly.\n")
    monkeypatch.setattr(packages, "version", lambda _: "2.24.2")
    monkeypatch.setattr(packages, "find_spec", lambda _: object())
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: done)
    (finding,) = [one for one in packages.look() if one.what == "xprof"]
    assert finding.found == "2.24.2, does not load: TypeError: Descriptors cannot be created directly."
    assert "protobuf" in finding.cure


def test_the_report_shows_itself_and_escapes_what_it_found() -> None:
    report = Report((Finding("jax", "ok", "1"), Finding("lab", "fault", "<script>", "pip install 'a>=1'")))
    assert report.has_fault
    assert report.sentence == "1 fault, 0 warnings, 1 checks are well"
    assert "<script>" not in report._repr_html_()
    assert 'scope="row"' in report._repr_html_()
    assert repr(report).splitlines()[1] == "x  lab              <script> -> pip install 'a>=1'"
    assert json.loads(report.to_text("json"))["findings"][1]["state"] == "fault"
    assert not Report((Finding("jax", "warning", "1"),)).has_fault
