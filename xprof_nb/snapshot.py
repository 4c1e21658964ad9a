"""What a view needs to draw itself with nobody to ask: a small, bounded, JSON-safe picture of one answer.

A snapshot is what a saved notebook keeps, what the server hands to a document and what a static page embeds. It is
bounded because notebooks are saved, mailed and diffed: the pruned table first, then the details of the most
expensive ops for as long as the budget lasts.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from xprof_nb import __version__, queries
from xprof_nb.errors import ProfileError, UsageError
from xprof_nb.model import columns

if TYPE_CHECKING:
    import pandas as pd

    from xprof_nb.model.answer import Answer
    from xprof_nb.model.profile import ProfileData

MIMETYPE = "application/vnd.xprof-nb.view.v1+json"
VERSION = 1
VIEWS: Mapping[str, str] = {"op_profile": "op profile", "trace": "timeline"}
"""The views there are, and what people call them."""

LARGEST_PAYLOAD_BYTES = 200_000
LARGEST_PAGE_BYTES = 2_000_000
"""Of a page of its own, which nobody diffs: a timeline is in it down to a sixteenth."""
LARGEST_TABLE_BYTES = 110_000
TABLE_SIZES = ((300, 300), (150, 300), (75, 200), (30, 100), (10, 40))
"""Rows, and characters of a name, to try until the table fits."""
LARGEST_TRACKS_BYTES = 60_000
SMALLEST_WINDOW_BYTES = 12_000
MOST_TRACKS = 64
SHORT_NAME = 100
DETAILED_OPS = 60
LONGEST_TEXT = 4_000
LONGEST_NAME = 300
LONGEST_LIST = 24
MOST_DEVICES = 256


def build(
    data: ProfileData, view: str, params: Mapping[str, Any] | None = None, most_bytes: int = LARGEST_PAYLOAD_BYTES
) -> dict[str, Any]:
    """Return the payload of a view: at most ``most_bytes`` of JSON without NaN or infinity.

    Parameters
    ----------
    data
        The profile asked.
    view
        A name in `VIEWS`, which is the name of the query behind it.
    params
        Parameters of that query.

    Returns
    -------
    dict
        ``version, view, title, run, params, summary, notes, table, details, rows_total, package_version``;
        ``table`` is the base64 of `model.columns.encode`, ``details`` maps ``"<program_id>/<op>"`` to the summary
        of the query ``op_details``. A timeline has no details but ``extra``, whose ``windows`` are tables as well:
        the whole of it and the window shown first, then parts as long as the bytes last.

    Raises
    ------
    UsageError
        There is no such view, or the query does not take these parameters.
    ProfileError
        The profile cannot answer the query.
    """
    if view not in VIEWS:
        raise UsageError(f"unknown view {view!r}", hint=f"Known: {', '.join(sorted(VIEWS))}.")
    params = {name: value for name, value in (params or {}).items() if value is not None}
    answer, table = _fitting_tracks(data, params) if view == "trace" else _fitting_table(data, view, params)
    payload = {
        "version": VERSION,
        "view": view,
        "title": f"{VIEWS[view]} of {_clipped(data.name, LONGEST_NAME)}",
        "run": _run(data),
        "params": _bounded(json_safe(params), LONGEST_NAME),
        "summary": _bounded(json_safe(answer.summary), LONGEST_TEXT),
        "notes": _bounded(json_safe(answer.notes), LONGEST_TEXT),
        "table": table,
        "details": {},
        "rows_total": int(answer.summary.get("node_count", len(answer.frame))),
        "package_version": __version__,
    }
    left = most_bytes - json_bytes(payload)
    if view == "trace":
        payload["extra"] = {"windows": _windows(data, answer, params, left)}
    else:
        payload["details"] = _details(data, answer.frame, params, left)
    return payload


def json_bytes(value: Any) -> int:
    """Return how many bytes ``value`` takes in a saved notebook.

    A notebook is indented: every item of a list or an object is a line of its own, and the payload lies ten to
    twenty spaces deep in it.
    """
    return len(json.dumps(value, allow_nan=False, ensure_ascii=False, indent=1).encode()) + 12 * _items(value)


def json_safe(value: Any) -> Any:
    """Return ``value`` as plain JSON: NaN and infinity are null, NumPy scalars and arrays are what they hold.

    Text keeps its length; only lone surrogates, which no file can hold, are replaced.
    """
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {_encodable(str(key)): json_safe(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [json_safe(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (bool, int)):
        return value
    text = _encodable(str(value))
    return None if not isinstance(value, str) and text in {"<NA>", "NaT"} else text


def _bounded(value: Any, longest_text: int, longest_list: int = LONGEST_LIST) -> Any:
    """Return plain JSON with no text or list longer than allowed; what was cut says so."""
    if isinstance(value, str):
        return _clipped(value, longest_text)
    if isinstance(value, dict):
        return {_clipped(key, LONGEST_NAME): _bounded(item, longest_text, longest_list) for key, item in value.items()}
    if isinstance(value, list):
        shown = [_bounded(item, longest_text, longest_list) for item in value[:longest_list]]
        if len(value) > longest_list and isinstance(value[0], str):
            shown.append(f"… and {len(value) - longest_list:,} more")
        return shown
    return value


def _fitting_table(data: ProfileData, view: str, params: Mapping[str, Any]) -> tuple[Answer, str]:
    """Return the answer with as many rows as the table's budget holds, and its wire form."""
    asked = params.get("limit", TABLE_SIZES[0][0])
    if not isinstance(asked, int):
        queries.ask(data, view, params)  # which says what a limit is
        asked = TABLE_SIZES[0][0]
    for rows, longest in TABLE_SIZES:
        answer = queries.ask(data, view, {**params, "limit": min(asked, rows)})
        table = base64.b64encode(columns.encode(_clipped_names(answer.frame, longest))).decode("ascii")
        if len(table) <= LARGEST_TABLE_BYTES:
            return answer, table
    raise ProfileError(
        f"the smallest table of this {VIEWS[view]} takes {len(table):,} bytes of {LARGEST_TABLE_BYTES:,} allowed",
        file=data.path,
        hint="Ask for fewer rows with limit=, or for the numbers with .frame.",
    )


def _fitting_tracks(data: ProfileData, params: Mapping[str, Any]) -> tuple[Answer, str]:
    """Return the timeline's tracks, the first of them if there are too many, and their wire form."""
    answer = queries.ask(data, "trace", params)
    rows = len(answer.frame)
    while True:
        table = base64.b64encode(columns.encode(_clipped_names(answer.frame[:rows], SHORT_NAME))).decode("ascii")
        if len(table) <= LARGEST_TRACKS_BYTES or rows == 1:
            return replace(answer, frame=answer.frame[:rows]), table
        rows = max(rows // 2, 1)


def _windows(data: ProfileData, answer: Answer, params: Mapping[str, Any], left: int) -> list[str]:
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
        table = base64.b64encode(columns.encode(_clipped_names(frame, SHORT_NAME), meta)).decode("ascii")
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


def _clipped_names(frame: pd.DataFrame, longest: int) -> pd.DataFrame:
    """Return ``frame`` with every text short enough to be a cell."""
    texts = {
        name: column.map(lambda text: _clipped(str(text), longest), na_action="ignore")
        for name, column in frame.items()
        if column.dtype.kind not in "biuf"
    }
    return frame.assign(**texts)


def _details(data: ProfileData, frame: pd.DataFrame, params: Mapping[str, Any], budget: int) -> dict[str, Any]:
    """Return the details of the most expensive ops in ``frame``, within ``budget`` bytes of JSON."""
    filters = {name: params[name] for name in ("host", "device", "step", "window_ps", "compat") if name in params}
    details: dict[str, Any] = {}
    for program_id, op in _expensive_ops(frame):
        try:
            answer = queries.ask(data, "op_details", {**filters, "program_id": program_id, "op": op})
        except ProfileError:
            continue  # an op whose program was not recorded has a row and no details
        # The key is made of what the table's cells say, clipped as they are.
        key = f"{_clipped(program_id, LONGEST_NAME)}/{_clipped(op, LONGEST_NAME)}"
        entry = {key: _bounded(json_safe(answer.summary), LONGEST_TEXT)}
        budget -= json_bytes(entry)
        if budget < 0:
            break
        details |= entry
    return details


def _expensive_ops(frame: pd.DataFrame) -> Iterable[tuple[str, str]]:
    ops = frame[(frame["kind"] == "op") & frame["op"].notna() & frame["program_id"].notna()]
    ops = ops.sort_values("self_time_ps", ascending=False, kind="stable").drop_duplicates(["program_id", "op"])
    return zip(ops["program_id"][:DETAILED_OPS], ops["op"][:DETAILED_OPS], strict=True)


def _run(data: ProfileData) -> dict[str, Any]:
    run = {
        "name": data.name,
        "path": data.path,
        "origin": data.origin,
        "hosts": [trace.host for trace in data.hosts],
        "devices": [device.name for device in data.devices],
        "identity": data.identity,
    }
    return dict(_bounded(json_safe(run), LONGEST_TEXT, MOST_DEVICES))


def _clipped(text: str, longest: int) -> str:
    text = _encodable(text)
    return text if len(text) <= longest else f"{text[:longest]}… ({len(text) - longest:,} more characters)"


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def _items(value: Any) -> int:
    """Return how many lines an indented JSON of ``value`` has, about."""
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return sum(1 + _items(item) for item in inner)
