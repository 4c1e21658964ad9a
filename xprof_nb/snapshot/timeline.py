"""The timeline's part of a snapshot: its tracks, and windows of it as long as the bytes last."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from xprof_nb import queries
from xprof_nb.model import columns
from xprof_nb.snapshot.bounds import clipped_names, json_bytes, json_safe

if TYPE_CHECKING:
    import pandas as pd

    from xprof_nb.model.answer import Answer
    from xprof_nb.model.profile import ProfileData

LARGEST_TRACKS_BYTES = 60_000
LARGEST_LIVE_TRACKS_BYTES = 20_000_000
"""Of a view that can ask: a hundred thousand tracks, of which no other answer tells."""
SMALLEST_WINDOW_BYTES = 12_000
MOST_TRACKS = 64
SHORT_NAME = 100


def fitting_tracks(data: ProfileData, params: Mapping[str, Any], most_bytes: int) -> tuple[Answer, str]:
    """Return the timeline's tracks, the first of them and a note if there are too many, and their wire form."""
    answer = queries.ask(data, "trace", params)
    rows = total = len(answer.frame)
    while True:
        table = base64.b64encode(columns.encode(clipped_names(answer.frame[:rows], SHORT_NAME))).decode("ascii")
        if len(table) <= most_bytes or rows == 1:
            break
        rows = max(rows // 2, 1)
    left_out = f"Only the first {rows:,} of {total:,} tracks are kept here: open the run, or choose a host."
    notes = (*answer.notes, *([left_out] if rows < total else []))
    return replace(answer, frame=answer.frame[:rows], notes=notes), table


def windows(data: ProfileData, answer: Answer, params: Mapping[str, Any], left: int) -> list[str]:
    """Return windows of the timeline as tables: all of it, what is shown first, then quarters and sixteenths."""
    begin, end = answer.summary["start_ps"], answer.summary["end_ps"]
    first = (answer.summary["shown_start_ps"], answer.summary["shown_end_ps"])
    spans = [(begin, end), *([first] if first != (begin, end) else [])]
    spans += [
        (begin + (end - begin) * part / parts, begin + (end - begin) * (part + 1) / parts)
        for parts in (4, 16)
        for part in range(parts)
    ]
    open_tracks = _open_tracks(answer.frame) if params.get("tracks") is None else list(params["tracks"])
    found: list[str] = []
    for start_ps, end_ps in spans:
        # The first ones share what there is; the others take what they need of the rest, if it is enough.
        share = max((left - 100) // (2 if len(found) == 0 and len(spans) > 1 else 1), 0)
        if share < SMALLEST_WINDOW_BYTES or start_ps >= end_ps:
            break
        asked = {"start_ps": start_ps, "end_ps": end_ps, "pixels": 1000, "tracks": open_tracks}
        window = _window(data, asked, share)
        if window is None:
            break
        found.append(window)
        left -= json_bytes(window) + 40
    return found


def _window(data: ProfileData, asked: Mapping[str, Any], most_bytes: int) -> str | None:
    for rows in (4000, 2000, 1000, 500, 250, 125):
        answer = queries.ask(data, "trace_window", {**asked, "most_rows": rows})
        frame = answer.frame.drop(columns=["event", "low", "high"], errors="ignore")
        meta = {"summary": json_safe({**answer.summary, "lanes": {}, "tracks": asked["tracks"]})}
        table = base64.b64encode(columns.encode(clipped_names(frame, SHORT_NAME), meta)).decode("ascii")
        if len(table) <= most_bytes:
            return table
    return None


def _open_tracks(frame: pd.DataFrame) -> list[int]:
    """Return the tracks that nothing folded hides; a parent comes before its children."""
    hidden: set[int] = set()
    shown: list[int] = []
    for row in frame.itertuples():
        if row.folded or row.parent in hidden:
            hidden.add(row.track)
        elif row.lanes:
            shown.append(row.track)
    return shown[:MOST_TRACKS]
