"""The moments people marked on a run's timeline, kept in the sidecar of its capture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from xprof_nb.errors import ProfileError
from xprof_nb.model.answer import Answer
from xprof_nb.model.profile import ProfileData
from xprof_nb.runs import sidecar

_LATEST_PS = 2**62
_COLUMNS = ["id", "name", "color", "time_ps"]


def trace_marks(profile: ProfileData, markers: Sequence[Mapping[str, Any]] | None) -> Answer:
    """Return the markers of a run, after putting others in their place unless None are given.

    Only a run of our own captures keeps them: nothing is written beside other people's files. Others get their
    markers back, ``saved`` false and the ``reason``; the view keeps them itself.
    """
    reason = None
    if markers is None:
        kept, reason = _read(profile)
    else:
        kept = [_plain(marker, number) for number, marker in enumerate(markers)]
        reason = _write(profile, kept)
    summary = {"markers": kept, "saved": reason is None, "reason": reason}
    frame = pd.DataFrame(kept, columns=_COLUMNS)
    note = reason or ("No moment of this run is marked: put a marker on its timeline." if not kept else None)
    return Answer(frame, summary, (note,) if note else ())


def read_markers(profile: ProfileData) -> list[dict[str, Any]]:
    """Return the markers kept with a run, none where they cannot be read."""
    return _read(profile)[0]


def _plain(marker: Mapping[str, Any], number: int) -> dict[str, Any]:
    return {
        "id": str(marker.get("id") or number),
        "name": str(marker.get("name", "")),
        "color": str(marker.get("color", "")),
        "time_ps": float(marker["time_ps"]),
    }


def _read(profile: ProfileData) -> tuple[list[dict[str, Any]], str | None]:
    try:
        found = sidecar.read(profile.path)
    except ProfileError as error:
        return [], str(error)
    if found is None:
        return [], _no_sidecar(profile)
    saved = found.other.get(sidecar.MARKERS)
    whole = [marker for marker in saved if _is_marker(marker)] if isinstance(saved, list) else []
    return [_plain(marker, number) for number, marker in enumerate(whole)], None


def _write(profile: ProfileData, markers: list[dict[str, Any]]) -> str | None:
    """Return why the markers could not be kept, None if they are."""
    try:
        found = sidecar.read(profile.path)
        if found is None:
            return _no_sidecar(profile)
        sidecar.write(profile.path, replace(found, other={**found.other, sidecar.MARKERS: markers}))
    except (OSError, ProfileError) as error:
        return f"The run folder cannot be written to: {error}"
    return None


def _no_sidecar(profile: ProfileData) -> str:
    return f"{profile.name} is no capture of this tool, and nothing is written beside other files."


def _is_marker(value: object) -> bool:
    time_ps = value.get("time_ps") if isinstance(value, dict) else None
    return isinstance(time_ps, int | float) and not isinstance(time_ps, bool) and abs(time_ps) <= _LATEST_PS
