"""What a saved view of memory says of a moment that somebody clicks: who held the memory at the points it has saved."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from xprof_nb.analysis.live_arrays import UNTOLD
from xprof_nb.analysis.memory_holders import holders_of_points
from xprof_nb.analysis.selection import FILTERS, Selection
from xprof_nb.model import columns
from xprof_nb.params import Filters
from xprof_nb.snapshot.bounds import LONGEST_NAME, clipped_names, json_bytes

if TYPE_CHECKING:
    from xprof_nb.model.profile import ProfileData

LARGEST_BYTES = 100_000
HOLDERS = 6
MOST_POINTS = 160
FEWEST_POINTS = 8


def holders(data: ProfileData, kept: pd.DataFrame, params: Mapping[str, Any], left: int) -> dict[str, Any]:
    """Return the largest holders at the saved points, at evenly spread ones of them where there is no room for all."""
    if left <= 0 or "compat" in params or not {"allocator", "kind"} <= set(kept):
        return {}
    most = min(MOST_POINTS, len(kept))
    while most >= FEWEST_POINTS or most == len(kept) > 0:
        table = _table(data, kept.iloc[:: -(-len(kept) // most)], params)
        found = {"holders": base64.b64encode(columns.encode(clipped_names(table, LONGEST_NAME))).decode("ascii")}
        if json_bytes(found) <= min(left, LARGEST_BYTES):
            return found
        most //= 2
    return {}


def _table(data: ProfileData, points: pd.DataFrame, params: Mapping[str, Any]) -> pd.DataFrame:
    given = Filters(**{name: params[name] for name in FILTERS if name in params})
    selection = Selection(given.host, given.device, given.program, given.step, given.window_ps)
    is_sample = points["kind"] == "sample"
    names = {"host": "host", "device": "device", "allocator": "allocator", "start_ps": "at_ps", "total_bytes": "bytes"}
    samples = points.loc[is_sample, [name for name in names if name in points]].rename(columns=names)
    told = holders_of_points(data, selection, points[~is_sample], HOLDERS)
    both = [told, samples.assign(holder=UNTOLD, total_fraction=1.0)]
    frame = pd.concat([each for each in both if len(each)], ignore_index=True)
    return frame.loc[:, frame.notna().any()]
