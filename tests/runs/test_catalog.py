import os

import pandas as pd
import pytest

from xprof_nb.errors import NotFoundError
from xprof_nb.runs import sidecar
from xprof_nb.runs.catalog import runs
from xprof_nb.runs.sidecar import FILE_NAME, Sidecar


@pytest.fixture(autouse=True)
def own_temporary_folder(tmp_path, monkeypatch):
    """A list names what was left in the temporary folder, which all processes of the machine share."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


def test_runs_newest_first_with_what_is_known(make_run, tmp_path):
    older = make_run("plain", "a", "b", content=b"12345")
    for file in older.iterdir():
        os.utime(file, (1_700_000_000, 1_700_000_000))
    newer = make_run("noted")
    device = {"kind": "TPU v6 lite", "platform": "tpu"}
    recorded = {
        "started": "2026-11-30T12:00:00Z",
        "duration_s": 3.0,
        "note": "n",
        "tags": ["t"],
        "devices": [device] * 4,
    }
    sidecar.write(newer, Sidecar.from_json(recorded))

    frame = runs(tmp_path / "logs")

    assert list(frame.run) == ["noted", "plain"]
    noted, plain = frame.iloc[0], frame.iloc[1]
    assert noted.started == pd.Timestamp("2026-11-30T12:00:00Z")
    assert (noted.duration_s, noted.origin, noted.device, noted.note) == (3.0, "captured", "TPU v6 lite × 4", "n")
    assert noted.tags == ("t",)
    assert plain.started == pd.Timestamp(1_700_000_000, unit="s", tz="UTC")
    assert pd.isna(plain.duration_s)
    assert pd.isna(plain.device)
    assert (plain.host_count, plain.bytes, plain.origin, plain.note) == (2, 10, "opened", "")
    assert (plain.path, plain.logdir) == (str(older), str(tmp_path / "logs"))
    assert frame.attrs["notes"] == []


def test_a_damaged_sidecar_does_not_hide_its_run(make_run, tmp_path):
    (make_run("r") / FILE_NAME).write_text("{")
    assert list(runs(tmp_path).run) == ["r"]


def test_an_empty_list_has_its_columns_and_says_why(tmp_path, monkeypatch):
    frame = runs(tmp_path)
    assert len(frame) == 0
    assert {"run", "path", "started", "duration_s", "host_count", "bytes", "origin"} <= set(frame.columns)
    assert str(frame.started.dtype) == "datetime64[ns, UTC]"
    assert "%xprof capture" in frame.attrs["notes"][0]


def test_a_default_log_dir_need_not_exist_but_a_named_one_must(tmp_path, monkeypatch):
    monkeypatch.setenv("XPROF_NB_LOGDIR", str(tmp_path / "later"))
    assert "does not exist yet" in runs().attrs["notes"][0]
    with pytest.raises(NotFoundError, match="later"):
        runs(tmp_path / "later")
