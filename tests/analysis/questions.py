"""Every question there is, with filters at random, and what every answer owes whoever asked."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np

import xprof_nb as xp
from xprof_nb import queries
from xprof_nb.model.columns import encode

TIMES = (0, 1, -1, 10**9, 10**12, 2**62, -(2**62))


def filters(profile: xp.Profile, chance: random.Random) -> dict[str, Any]:
    """Return filters that may fit the profile, or not."""
    some: dict[str, Any] = {}
    programs = list(profile.programs)
    trace = chance.choice(profile.data.hosts)
    begin, end = trace.window_ps
    middle = begin + (end - begin) // 2
    choices: dict[str, tuple[Any, ...]] = {
        "host": (trace.host, "nobody"),
        "device": (*(device.name for device in profile.devices[:3]), 0, "TPU:0", "x'y"),
        "program": (*programs[:3], *(profile.programs[number].name for number in programs[:2]), "jit_none", 2**64 - 1),
        "step": (0, 1, 3, -1, 2**62),
        "window_ps": ((begin, middle), (middle, middle + 1), (end + 1, end + 2), (-5, 0), (-(2**62), 2**62)),
        "compat": ("xprof",),
    }
    for name in chance.sample(sorted(choices), chance.choice((0, 0, 1, 1, 2, 3))):
        some[name] = chance.choice(choices[name])
    if "window_ps" in some and max(map(abs, some["window_ps"])) > 2**62:
        del some["window_ps"]
    return some


def parameters(profile: xp.Profile, query: str, chance: random.Random) -> dict[str, Any]:
    """Return what a question needs or takes besides the filters."""
    if query in {"op_details", "graph"}:
        ops = [(key.program_id, key.op) for trace in profile.data.hosts for key in _keys(trace)]
        program, op = chance.choice(ops) if ops else (1, "fusion")
        if query == "op_details":
            return {"program_id": str(program), "op": str(op) or "x"}
        return chance.choice(({}, {"op": str(op)}, {"program": int(program), "op": str(op)}))
    if query in {"trace_window", "trace_selection", "trace"}:
        begin = chance.choice((None, *TIMES))
        end = chance.choice((None, *TIMES))
        if begin is not None and end is not None and begin >= end:
            begin = None
        window = {"start_ps": begin, "end_ps": end}
        return window if query == "trace" else {**window, "tracks": chance.choice((None, [0, 1, 2, 3]))}
    chosen: dict[str, tuple[dict[str, Any], ...]] = {
        "op_profile": tuple({"by": by} for by in ("program", "category", "framework", "source")),
        "buffers": ({}, {"memory_space": 1}),
        "events": ({}, {"pattern": ".*x"}, {"limit": 3}, {"min_python_ps": 10**6}),
        "sql": tuple({"text": f"SELECT * FROM {table} LIMIT 50"} for table in TABLES),
        "trace_search": ({"text": "a"}, {"text": "/x|o/"}, {"text": "'", "from_ps": 5}),
        "trace_event": tuple({"track": track, "event": event} for track in range(6) for event in (0, 1)),
    }
    return chance.choice(chosen.get(query, ({},)))


TABLES = (
    "events",
    "ops",
    "op_events",
    "steps",
    "runs",
    "instructions",
    "buffers",
    "allocations",
    "kernels",
    "devices",
    "programs",
)


def _keys(trace: Any) -> list[Any]:
    from types import SimpleNamespace

    rows = range(min(len(trace.keys), 20))
    return [SimpleNamespace(program_id=trace.keys.program_id[row], op=trace.keys.op[row]) for row in rows]


def ask(profile: xp.Profile, query: str, params: dict[str, Any]) -> str:
    """Ask, hold the answer against what is promised of all; return what became of the question."""
    try:
        answer = profile.ask(query, **params)
    except xp.ProfileError as refused:
        assert str(refused).strip(" .")
        return "refused"
    for name, column in answer.frame.items():
        values = column.to_numpy()
        if values.dtype.kind == "f":
            assert not np.isinf(values).any(), f"{name} is infinite"
    json.dumps(answer.summary, allow_nan=False)
    encode(answer.frame, {"summary": answer.summary, "notes": list(answer.notes)})
    assert len(answer.frame) or answer.notes, "an empty table says nothing"
    return "answered" if len(answer.frame) else "empty"


def all_questions() -> list[str]:
    return sorted(queries.REGISTER)
