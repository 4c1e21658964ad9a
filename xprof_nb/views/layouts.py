"""Which columns a plain table shows of each answer, under which heads: a terminal is narrow and paper is too."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from xprof_nb.model import units

LONGEST_NAME = 72
LONGEST_NOTE = 500
_TREES = frozenset({"op_profile", "framework_ops"})
_FIGURES = frozenset({"overview", "kpis"})
"""Questions whose rows are values, each with a unit of its own."""


@dataclass(frozen=True)
class Column:
    """A column ready to print; numbers stand to the right, words to the left."""

    head: str
    cells: tuple[str, ...]
    is_text: bool = False


def rows(query: str, frame: pd.DataFrame, summary: Mapping[str, Any]) -> pd.DataFrame:
    """Return what is worth a table: the answer's rows, but of memory over time who held its peak."""
    if query != "memory" or "peak_bytes" not in summary:
        return frame
    held = [
        {"device": allocator["device"] or allocator["allocator"], **holder}
        for allocator in summary.get("allocators", ())
        for holder in allocator["held"]
    ]
    held.sort(key=lambda row: row["bytes"], reverse=True)
    return pd.DataFrame(held, columns=None if held else list(_NAMES["memory"]))


def columns(query: str, frame: pd.DataFrame) -> tuple[Column, ...]:
    """Return the columns of a question's table; of one without a layout all that say anything."""
    if query in _FIGURES and "definition" in frame:
        return tuple(_figures(frame))
    anchor, heads = _LAYOUTS.get(query, ("", ()))
    if anchor in frame:
        return tuple(_laid_out(frame, heads))
    names = _NAMES.get(query, ())
    return tuple(_named(frame, names if names and names[0] in frame else tuple(frame.columns)))


def is_tree(query: str, frame: pd.DataFrame) -> bool:
    """Whether the rows are a tree in preorder, with a ``depth``; xprof's own tables are lists."""
    return query in _TREES and "depth" in frame


def one_line(text: object, longest: int = LONGEST_NAME) -> str:
    """Return ``text`` on one line, not too long, without characters that steer a terminal or the text's direction."""
    word = "".join(_visible(character) for character in str(text)[: longest + 1])
    return word if len(word) <= longest else f"{word[: longest - 1]}…"


# Of every answer the columns in the order in which they matter: paper has room for the first of them.
_NAMES: dict[str, tuple[str, ...]] = {
    "steps": (
        *("step", "kind", "device", "step_time_ps", "busy_time_ps", "compile_time_ps", "is_partial", "start_ps"),
        *("duration_ps", "cut", "name", "host"),
    ),
    "input_pipeline": (
        *("step", "kind", "device", "step_time_ps", "input_fraction", "compute_ps", "collective_ps", "host_input_ps"),
        *("idle_ps", "launch_ps", "host_to_device_ps", "device_to_host_ps", "host_wait_ps", "compile_ps"),
        *("infeed_ps", "outfeed_ps", "host_offload_ps", "device_copy_ps", "host_other_ps", "is_partial", "start_ps"),
        *("cut", "name", "host"),
    ),
    "kernels": (
        *("kernel", "device", "time_ps", "time_fraction", "occurrences", "mean_time_ps", "occupancy_fraction", "kind"),
        *("grid", "block", "registers_per_thread", "bytes", "bytes_per_s", "op", "framework_op"),
    ),
    "collectives": (
        *("op", "kind", "device", "time_ps", "exposed_time_ps", "exposed_fraction", "payload_bytes"),
        *("bus_bytes_per_s", "group_size", "occurrences", "wait_time_ps", "exposed_per_step_ps"),
        *("algorithm_bytes_per_s", "dtype", "scope"),
    ),
    "buffers": (
        *("name", "bytes", "kind", "shape", "live_at_peak", "start", "end", "padding_bytes", "opcode"),
        *("framework_op", "source"),
    ),
    "compare": (
        *("op", "before_ps", "after_ps", "difference_ps", "difference_fraction", "category", "match", "op_before"),
        *("framework_op", "source"),
    ),
    "memory": ("holder", "device", "bytes", "count", "shape", "dtype", "framework_op", "region", "caller", "sharding"),
    "graph": ("node", "op", "opcode", "time_ps", "flops", "bytes_accessed", "shape", "distance", "computation"),
    "trace": ("name", "kind", "device", "busy_ps", "event_count", "lanes", "host"),
    "events": ("name", "start_ps", "duration_ps", "line", "device", "occurrences", "plane"),
}


Heads = tuple[tuple[str, str | tuple[str, str]], ...]
"""Head and column of the frame; or head, rate and what share of its peak that is."""
_FLOPS: Heads = (("FLOP/s", ("flops_per_s", "flops_utilization")),)
_TRAFFIC: Heads = (("memory", ("hbm_bytes_per_s", "hbm_utilization")),)
_WORK: Heads = (
    ("share", "time_fraction"),
    ("self time", "self_time_ps"),
    *_FLOPS,
    *_TRAFFIC,
    ("bound by", "bound_by"),
    ("wasted", "wasted_fraction"),
    ("time", "time_ps"),
    ("count", "occurrences"),
)
# Each with a column that says the frame is the one it is for: xprof's own table of a question has others.
_LAYOUTS: dict[str, tuple[str, Heads]] = {
    "op_profile": ("depth", (("name", "name"), *_WORK)),
    "ops": (
        "work_kind",
        (("op", "op"), ("category", "category"), *_WORK, ("program", "program"), ("source", "source")),
    ),
    "framework_ops": (
        "depth",
        (
            ("name", "name"),
            ("on", "on"),
            ("share", "time_fraction"),
            ("self time", "self_time_ps"),
            *_FLOPS,
            *_TRAFFIC,
            ("forward", "forward_time_ps"),
            ("backward", "backward_time_ps"),
            ("again", "rematted_time_ps"),
            ("count", "occurrences"),
        ),
    ),
    "roofline": (
        "level",
        (
            ("what", "name"),
            ("level", "level"),
            ("share", "time_fraction"),
            ("FLOP/B", "arithmetic_intensity"),
            *_FLOPS,
            ("attainable", "attainable_flops_per_s"),
            *_TRAFFIC,
            ("bound by", "bound_by"),
            ("time", "time_ps"),
            ("type", "compute_dtype"),
        ),
    ),
}


def _laid_out(frame: pd.DataFrame, heads: Heads) -> list[Column]:
    return [
        _column(frame, head, shown) if isinstance(shown, str) else _rate(frame, head, *shown) for head, shown in heads
    ]


def _figures(frame: pd.DataFrame) -> list[Column]:
    values = tuple(map(units.quantity, frame["value"], frame["unit"]))
    # Our own words, and the last column: cut, a definition defines nothing.
    definitions = Column(
        "definition", tuple(one_line(text, LONGEST_NOTE) for text in frame["definition"]), is_text=True
    )
    return [_column(frame, "name", "name"), Column("value", values), definitions]


def _named(frame: pd.DataFrame, names: Sequence[str]) -> list[Column]:
    told = [name for name in names if name in frame and (not len(frame) or frame[name].notna().any())]
    return [_column(frame, one_line(units.heading(name)), name) for name in told]


def _column(frame: pd.DataFrame, head: str, name: str) -> Column:
    values = frame[name]
    write = _yes_or_no if values.dtype.kind == "b" else units.formatter(name)
    is_text = values.dtype.kind not in "biufm" and any(isinstance(value, str) for value in values)
    return Column(head, tuple(one_line(write(value)) for value in values), is_text)


def _yes_or_no(value: object) -> str:
    return units.MISSING if pd.isna(value) else "yes" if value else "no"


def _rate(frame: pd.DataFrame, head: str, rate: str, share: str) -> Column:
    """Return a rate and how much of its peak that is: a number never stands alone."""
    both = zip(_column(frame, head, rate).cells, _column(frame, head, share).cells, strict=True)
    return Column(head, tuple(value if part == units.MISSING else f"{value}, {part}" for value, part in both))


def _visible(character: str) -> str:
    if character in "\n\r\t":
        return " "
    return "\N{REPLACEMENT CHARACTER}" if unicodedata.category(character).startswith("C") else character
