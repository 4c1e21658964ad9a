import json
import shutil
from datetime import UTC, datetime

import pytest

from xprof_nb import queries
from xprof_nb.errors import DamagedFileError
from xprof_nb.runs import catalog, opening, sidecar
from xprof_nb.runs.sidecar import FILE_NAME, Sidecar

FULL = Sidecar(
    name="train-1",
    note="bf16 = größer 🚀",
    tags=("a", "b"),
    started=datetime(2026, 11, 30, 12, 0, 0, 123000, tzinfo=UTC),
    duration_s=3.0,
    stop_s=0.5,
    cells={"<ipython-input-5>": {"count": 5, "source": "train()"}},
    cell="train()",
    options={"python": True},
    versions={"jax": "0.10.2"},
    devices=({"kind": "cpu", "platform": "cpu", "id": 0},),
    hostname="h",
    xla_flags="--xla_dump_to=/tmp",
    remarks=("Overhead ×1.2.",),
    overhead={"per_event_ns": 40},
    peaks={"flops_per_s": {"f32": 1e11}},
)


def test_what_is_written_is_read(tmp_path):
    path = sidecar.write(tmp_path, FULL)
    assert sidecar.read(tmp_path) == FULL
    assert json.loads(path.read_text())["started"] == "2026-11-30T12:00:00.123+00:00"
    assert [file.name for file in tmp_path.iterdir()] == [FILE_NAME]


def test_what_was_remarked_is_told_cut_where_it_is_long():
    assert Sidecar(remarks=("Overhead ×1.2.", "x" * 1000)).notes == ("Overhead ×1.2.", "x" * 500)


def test_defaults_are_read_back(tmp_path):
    sidecar.write(tmp_path, Sidecar())
    assert sidecar.read(tmp_path) == Sidecar()


def test_unknown_keys_are_kept(tmp_path):
    (tmp_path / FILE_NAME).write_text('{"version": 1, "note": "n", "later": {"x": [1]}}')
    read = sidecar.read(tmp_path)
    sidecar.write(tmp_path, read)
    assert json.loads((tmp_path / FILE_NAME).read_text())["later"] == {"x": [1]}


def test_no_sidecar_is_none(tmp_path):
    assert sidecar.read(tmp_path) is None
    assert sidecar.read(tmp_path / "missing") is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "3",
        "\udcff",
        "[" * 99999,
        '{"note": 3}',
        '{"tags": "a"}',
        '{"started": "yesterday"}',
        '{"cells": {"a": 1}}',
        '{"duration_s": true}',
        '{"devices": [1]}',
    ],
)
def test_damage_is_said(tmp_path, text):
    (tmp_path / FILE_NAME).write_text(text, errors="surrogateescape")
    with pytest.raises(DamagedFileError, match=FILE_NAME):
        sidecar.read(tmp_path)


def test_a_failed_write_leaves_the_old_one(tmp_path):
    sidecar.write(tmp_path, FULL)
    with pytest.raises(ValueError, match="JSON"):
        sidecar.write(tmp_path, Sidecar(duration_s=float("nan")))
    assert sidecar.read(tmp_path) == FULL
    assert [file.name for file in tmp_path.iterdir()] == [FILE_NAME]


def test_a_lone_surrogate_in_a_cell_survives(tmp_path):
    sidecar.write(tmp_path, Sidecar(cell="print('\udce9')"))
    assert sidecar.read(tmp_path).cell == "print('\udce9')"


@pytest.mark.parametrize(
    "text",
    [
        '{"started": "0001-01-01T00:00:00+23:00"}',
        '{"started": "9999-12-31T23:59:59-23:00"}',
        '{"started": "2500-01-01T00:00:00"}',
        '{"duration_s": NaN}',
        '{"duration_s": 1e400}',
        '{"duration_s": 1' + "0" * 400 + "}",
        '{"overhead": {"per_event_ns": -Infinity}}',
    ],
)
def test_a_number_or_time_no_table_holds_is_damage_and_the_run_is_listed(tmp_path, text):
    folder = tmp_path / "plugins" / "profile" / "train"
    folder.mkdir(parents=True)
    (folder / "h.xplane.pb").write_bytes(b"")
    (folder / FILE_NAME).write_text(text)
    with pytest.raises(DamagedFileError):
        sidecar.read(folder)
    assert catalog.runs(tmp_path)["run"].tolist() == ["train"]


@pytest.mark.parametrize(
    "peaks",
    [
        {"flops_per_s": {"f32": {"x": 1}}},
        {"flops_per_s": [1]},
        {"flops_per_s": {"f32": {"value": 0, "label": "measured", "source": "here"}}},
        {"bytes_per_s": {"hbm": {"value": "fast", "label": "measured", "source": "here"}}},
    ],
)
def test_peaks_that_are_none_are_left_out(peaks):
    assert opening._recorded_peaks({"peaks": peaks}) is None


def profile_with(tmp_path, cpu_profile, text):
    run = tmp_path / "plugins" / "profile" / "run"
    shutil.copytree(cpu_profile, run)
    (run / FILE_NAME).write_text(text)
    return opening.open_data(run)


def test_a_file_of_a_later_version_is_said_and_what_may_be_missing(tmp_path, cpu_profile):
    text = '{"version": 9, "name": "mine", "later": [1], "cells": ["a"], "versions": 3, "markers": []}'
    profile = profile_with(tmp_path, cpu_profile, text)
    (note,) = [note for note in profile.notes if FILE_NAME in note]
    assert "format 9" in note
    assert "'cells', 'later', 'versions' may be missing here" in note
    assert "Upgrade" in note
    assert (profile.metadata["name"], profile.metadata["cells"]) == ("mine", {})
    queries.ask(profile, "overview")
    kept = sidecar.read(profile.path)
    sidecar.write(profile.path, kept)
    assert json.loads((tmp_path / "plugins/profile/run" / FILE_NAME).read_text()).items() >= json.loads(text).items()


@pytest.mark.parametrize("text", ["{", '{"note": 3}', '{"version": "new"}', '{"version": true}'])
def test_a_damaged_file_is_named_where_its_profile_is_opened(tmp_path, cpu_profile, text):
    profile = profile_with(tmp_path, cpu_profile, text)
    (note,) = [note for note in profile.notes if FILE_NAME in note]
    assert "repair or delete" in note
    assert note in queries.ask(profile, "ops").notes


def test_a_marker_at_no_time_is_left_out(tmp_path, cpu_profile):
    times = ["1" * 400, "true", '"1"', "12"]
    text = '{"markers": [' + ", ".join(f'{{"time_ps": {time}}}' for time in times) + "]}"
    profile = profile_with(tmp_path, cpu_profile, text)
    assert [marker["time_ps"] for marker in queries.ask(profile, "trace_marks").summary["markers"]] == [12.0]
