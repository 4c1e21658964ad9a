"""The op profile's part of a snapshot: the pruned tree, and details of its most expensive ops."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from xprof_nb import queries
from xprof_nb.errors import ProfileError
from xprof_nb.model import columns
from xprof_nb.snapshot.bounds import LONGEST_NAME, LONGEST_TEXT, bounded, clipped, clipped_names, json_bytes, json_safe
from xprof_nb.snapshot.tables import LARGEST_TABLE_BYTES

if TYPE_CHECKING:
    import pandas as pd

    from xprof_nb.model.answer import Answer
    from xprof_nb.model.profile import ProfileData

TREE_SIZES = ((300, 300), (150, 300), (75, 200), (30, 100), (10, 40))
"""Rows, and characters of a name, to try until the table fits."""
DETAILED_OPS = 60
FILTERS = ("program", "host", "device", "step", "window_ps")
SPREAD = ("time_per_step_ps", "step_fraction", "device_min_time_ps", "device_mean_time_ps", "device_max_time_ps",
          "device_imbalance_fraction", "slowest_device")  # fmt: skip


def fitting_tree(data: ProfileData, params: Mapping[str, Any]) -> tuple[Answer, str]:
    """Return the answer with as many rows as the table's budget holds, and its wire form."""
    asked = params.get("limit", TREE_SIZES[0][0])
    if not isinstance(asked, int):
        queries.ask(data, "op_profile", params)  # which says what a limit is
        asked = TREE_SIZES[0][0]
    for rows, longest in TREE_SIZES:
        answer = queries.ask(data, "op_profile", {**params, "limit": min(asked, rows)})
        table = base64.b64encode(columns.encode(clipped_names(answer.frame, longest))).decode("ascii")
        if len(table) <= LARGEST_TABLE_BYTES:
            return answer, table
    raise ProfileError(
        f"the smallest table of this op profile takes {len(table):,} bytes of {LARGEST_TABLE_BYTES:,} allowed",
        file=data.path,
        hint="Ask for fewer rows with limit=, or for the numbers with .frame.",
    )


def spread(data: ProfileData, frame: pd.DataFrame, params: Mapping[str, Any], budget: int) -> dict[str, Any]:
    """Return what ``op_spread`` says of the nodes in ``frame``, as a table; nothing where it says nothing."""
    if "compat" in params or budget <= 0:
        return {}
    asked = {name: params[name] for name in ("by", *FILTERS) if name in params}
    answer = queries.ask(data, "op_spread", asked)
    names = [name for name in answer.frame if name in SPREAD and answer.frame[name].notna().any()]
    if not names:
        return {}
    table = answer.frame.loc[answer.frame["key"].isin(frame["key"]), ["key", *names]]
    meta = {"summary": json_safe(answer.summary)}
    found = {"spread": base64.b64encode(columns.encode(clipped_names(table, LONGEST_NAME), meta)).decode("ascii")}
    return found if json_bytes(found) < budget else {}


def details(data: ProfileData, frame: pd.DataFrame, params: Mapping[str, Any], budget: int) -> dict[str, Any]:
    """Return the details of the most expensive ops in ``frame``, within ``budget`` bytes of JSON."""
    filters = {name: params[name] for name in (*FILTERS[1:], "compat") if name in params}
    found: dict[str, Any] = {}
    for program_id, op in _expensive_ops(frame):
        try:
            answer = queries.ask(data, "op_details", {**filters, "program_id": program_id, "op": op})
        except ProfileError:
            continue  # an op whose program was not recorded has a row and no details
        # The key is made of what the table's cells say, clipped as they are.
        key = f"{clipped(program_id, LONGEST_NAME)}/{clipped(op, LONGEST_NAME)}"
        entry = {key: bounded(json_safe(answer.summary), LONGEST_TEXT)}
        budget -= json_bytes(entry)
        if budget < 0:
            break
        found |= entry
    return found


def _expensive_ops(frame: pd.DataFrame) -> Iterable[tuple[str, str]]:
    ops = frame[(frame["kind"] == "op") & frame["op"].notna() & frame["program_id"].notna()]
    ops = ops.sort_values("self_time_ps", ascending=False, kind="stable").drop_duplicates(["program_id", "op"])
    return zip(ops["program_id"][:DETAILED_OPS], ops["op"][:DETAILED_OPS], strict=True)
