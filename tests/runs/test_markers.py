"""Markers that cannot be kept come back with the reason, and nothing is lost in the sidecar."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from xprof_nb.errors import DamagedFileError
from xprof_nb.runs import markers, sidecar

MARKER = {"id": "a", "name": "warm-up", "color": "#3B6FB6", "time_ps": 5.0}


@pytest.fixture
def run(monkeypatch):
    """A run with a sidecar that has a key of somebody else; what is written to it is returned."""
    written = []
    kept = sidecar.Sidecar(other={"theirs": 1})
    monkeypatch.setattr(sidecar, "read", lambda _: kept)
    monkeypatch.setattr(sidecar, "write", lambda _, new: written.append(new))
    return SimpleNamespace(name="run", path="/runs/run"), written


def test_markers_are_kept_beside_what_others_keep(run):
    profile, written = run
    answer = markers.trace_marks(profile, [MARKER])
    assert answer.summary == {"markers": [MARKER], "saved": True, "reason": None}
    assert written[0].other == {"theirs": 1, sidecar.MARKERS: [MARKER]}


@pytest.mark.parametrize(
    "error",
    [OSError(28, "No space left on device"), PermissionError(13, "Permission denied"), DamagedFileError("cut short")],
)
def test_a_folder_that_cannot_be_written_to_is_the_reason(run, monkeypatch, error):
    def fail(*_):
        raise error

    monkeypatch.setattr(sidecar, "write", fail)
    answer = markers.trace_marks(run[0], [MARKER])
    assert answer.summary["markers"] == [MARKER]
    assert answer.summary["saved"] is False
    assert answer.summary["reason"].startswith("The run folder cannot be written to: ")
    assert str(error) in answer.summary["reason"]
    assert answer.notes == (answer.summary["reason"],)
