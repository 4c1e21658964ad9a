"""What a view needs to draw itself with nobody to ask: a small, bounded, JSON-safe picture of one answer.

A snapshot is what a saved notebook keeps, what the server hands to a document and what a static page embeds. It is
bounded because notebooks are saved, mailed and diffed: the pruned table first, then what makes a view richer for as
long as the budget lasts.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from xprof_nb import __version__
from xprof_nb.errors import ProfileError, UsageError
from xprof_nb.snapshot import also, graph, moments, op_profile, tables, timeline
from xprof_nb.snapshot.bounds import LONGEST_NAME, LONGEST_TEXT, bounded, clipped, json_bytes, json_safe
from xprof_nb.snapshot.views import VIEWS, View

if TYPE_CHECKING:
    from xprof_nb.model.profile import ProfileData

__all__ = ["MIMETYPE", "VERSION", "VIEWS", "View", "build", "build_live", "json_bytes", "json_safe"]

MIMETYPE = "application/vnd.xprof-nb.view.v1+json"
VERSION = 1

LARGEST_PAYLOAD_BYTES = 200_000
LARGEST_PAGE_BYTES = 2_000_000
"""Of a page of its own, which nobody diffs: a timeline is in it down to a sixteenth."""
MOST_DEVICES = 256
SMALLEST_SHARE_BYTES = 20_000
SAVED_VIEWS = ("overview", "op_profile")
"""What a notebook keeps of all the views of a run: the others take a live run, or a page of their own."""


def build(
    data: ProfileData,
    view: str,
    params: Mapping[str, Any] | None = None,
    most_bytes: int = LARGEST_PAYLOAD_BYTES,
    most_tracks_bytes: int = timeline.LARGEST_TRACKS_BYTES,
) -> dict[str, Any]:
    """Return the payload of a view: at most ``most_bytes`` of JSON without NaN or infinity.

    Parameters
    ----------
    data
        The profile asked.
    view
        A name in `VIEWS`: the query behind it, or ``explore``, which has all of them.
    params
        Parameters of that query.
    most_tracks_bytes
        What the tracks of a timeline may take; where that is more than the default, on top of ``most_bytes``.

    Returns
    -------
    dict
        ``version, view, title, run, params, summary, notes, table, details, rows_total, package_version``;
        ``table`` is the base64 of `model.columns.encode`, ``details`` maps ``"<program_id>/<op>"`` to the summary
        of the query ``op_details``. A timeline has no details but ``extra``, whose ``windows`` are tables as well:
        the whole of it and the window shown first, then parts as long as the bytes last. The ``extra`` of an op
        profile holds the ``spread`` of its nodes and that of ``graph`` its ``edges``, tables too; that of ``explore``
        the payloads of the other ``views``, that of a view which draws other questions' answers too these ``answers``.

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
    with ThreadPoolExecutor(1) as pool:
        pool.submit(lambda: data.identity)  # every byte of the files is read: meanwhile the answer is found
        answer, kept, table = _table(data, view, params, most_tracks_bytes)
    payload = {
        "version": VERSION,
        "view": view,
        "title": f"{VIEWS[view].label} of {clipped(data.name, LONGEST_NAME)}",
        "run": _run(data),
        "params": bounded(json_safe(params), LONGEST_NAME),
        "summary": tables.fitting_summary(view, answer.summary),
        "notes": bounded(json_safe(answer.notes), LONGEST_TEXT),
        "table": table,
        "details": {},
        "rows_total": int(answer.summary["node_count"] if view == "op_profile" else len(answer.frame)),
        "package_version": __version__,
    }
    left = most_bytes - json_bytes(payload) + _beyond(view, table)
    if view == "trace":
        payload["extra"] = {"windows": timeline.windows(data, answer, params, left)}
    elif view == "graph":
        payload["extra"] = {"edges": graph.edges(answer, kept)}
    elif view == "op_profile":
        payload["extra"] = op_profile.spread(data, answer.frame, params, left)
        left -= json_bytes({"extra": payload["extra"]})
        payload["details"] = op_profile.details(data, answer.frame, params, left)
    elif view == "memory":
        payload["extra"] = moments.holders(data, kept, params, left)
    elif view == "explore":
        payload["extra"] = {"views": _views(data, params, left)}
    elif VIEWS[view].also:
        payload["extra"] = {"answers": also.answers(data, VIEWS[view].also, params, left)}
    return payload


def build_live(data: ProfileData, view: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the payload of a view for a host that can be asked for more, which needs no other answers with it."""
    is_asked = view in ("explore", "memory") or VIEWS[view].also
    most_bytes = 0 if is_asked else LARGEST_PAYLOAD_BYTES
    return build(data, view, params, most_bytes, timeline.LARGEST_LIVE_TRACKS_BYTES)


def _table(data: ProfileData, view: str, params: Mapping[str, Any], most_tracks_bytes: int) -> tables.Fitted:
    if view == "trace":
        answer, table = timeline.fitting_tracks(data, params, most_tracks_bytes)
        return tables.Fitted(answer, answer.frame, table)
    if view == "op_profile":
        answer, table = op_profile.fitting_tree(data, params)
        return tables.Fitted(answer, answer.frame, table)
    return tables.fitting_rows(data, "overview" if view == "explore" else view, params)


def _beyond(view: str, table: str) -> int:
    """Return what the tracks of a live timeline take beyond those of a saved one: not at the cost of its windows."""
    return max(len(table) - timeline.LARGEST_TRACKS_BYTES, 0) if view == "trace" else 0


def _views(data: ProfileData, params: Mapping[str, Any], left: int) -> dict[str, Any]:
    """Return the payloads of the views of a run, each with a fair share of what is left, as long as it is enough."""
    all_names = [name for name in VIEWS if VIEWS[name].explored]
    names = all_names if left > LARGEST_PAYLOAD_BYTES else SAVED_VIEWS if left > 0 else ()
    found: dict[str, Any] = {}
    for number, name in enumerate(names):
        share = left // (len(names) - number)
        try:
            payload = build(data, name, params, max(share, SMALLEST_SHARE_BYTES))
        except ProfileError:
            continue  # what this profile cannot answer, its view says when it is opened live
        if json_bytes(payload) <= left:
            found[name] = payload
            left -= json_bytes(payload)
    return found


def _run(data: ProfileData) -> dict[str, Any]:
    run = {
        "name": data.name,
        "path": data.path,
        "origin": data.origin,
        "hosts": [trace.host for trace in data.hosts],
        "devices": [device.name for device in data.devices],
        "identity": data.identity,
    }
    return dict(bounded(json_safe(run), LONGEST_TEXT, MOST_DEVICES))
