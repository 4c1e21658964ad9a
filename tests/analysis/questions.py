"""Every question there is, with filters at random, and what each answer owes whoever asked."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np

import xprof_nb as xp
from xprof_nb import queries
from xprof_nb.analysis.sql import schema as sql_schema
from xprof_nb.model.columns import encode

NEEDED: dict[str, dict[str, Any]] = {
    "op_details": {"program_id": "1", "op": "x"},
    "sql": {"text": "SELECT * FROM ops"},
    "trace_search": {"text": "a"},
    "trace_event": {"track": 1, "event": 0},
}
"""What some questions cannot be asked without."""
_TIMES = (0, 1, -1, 10**9, 10**12, 2**61, -(2**61))
_TABLES = tuple(dict.fromkeys(sql_schema.schema()["table"]))
_MOST_KEYS = 20


def names() -> list[str]:
    """Return every question."""
    return sorted(queries.REGISTER)


def asked_at_random(profile: xp.Profile, query: str, chance: random.Random) -> dict[str, Any]:
    """Return filters and other parameters of a question that may fit the profile, or not."""
    return {**_filters(profile, chance), **_others(profile, query, chance)}


def outcome(profile: xp.Profile, query: str, **params: Any) -> str:
    """Ask, hold the answer against what is promised of all; return what became of the question."""
    try:
        answer = profile.ask(query, **params)
    except xp.ProfileError as refused:
        return "refused" if str(refused).strip(" .") else "refused without a word"
    numbers = answer.frame.select_dtypes("number").to_numpy(np.float64, na_value=np.nan)
    assert not np.isinf(numbers).any()
    json.dumps(answer.summary, allow_nan=False)
    encode(answer.frame, {"summary": answer.summary, "notes": list(answer.notes)})
    if len(answer.frame):
        return "answered"
    return "empty" if any(len(note) > _MOST_KEYS for note in answer.notes) else "empty without a word"


def _filters(profile: xp.Profile, chance: random.Random) -> dict[str, Any]:
    programs = list(profile.programs)[:3]
    trace = chance.choice(profile.data.hosts)
    begin, end = trace.window_ps
    middle = begin + (end - begin) // 2
    choices: dict[str, tuple[Any, ...]] = {
        "host": (trace.host, "nobody"),
        "device": (*(device.name for device in profile.devices[:3]), 0, "TPU:0", "x'y"),
        "program": (*programs, *(profile.programs[number].name for number in programs), "jit_none", 2**64 - 1),
        "step": (0, 1, 3, -1, 2**62),
        "window_ps": ((begin, middle + 1), (middle, middle + 1), (end + 1, end + 2), (-5, 0), (-(2**62) + 1, 2**61)),
        "compat": ("xprof",),
    }
    return {
        name: chance.choice(choices[name]) for name in chance.sample(sorted(choices), chance.choice((0, 0, 1, 2, 3)))
    }


def _others(profile: xp.Profile, query: str, chance: random.Random) -> dict[str, Any]:
    if query in {"op_details", "graph"}:
        program, op = chance.choice(_ops(profile))
        needed = {"program_id": program, "op": op or "x"}
        return needed if query == "op_details" else chance.choice(({}, {"op": op}, {"program": program, "op": op}))
    if query in {"trace", "trace_window", "trace_selection"}:
        begin, end = sorted(chance.sample(_TIMES, 2))
        window = chance.choice(({}, {"start_ps": begin, "end_ps": end}, {"start_ps": begin}, {"end_ps": end}))
        return {**window, **chance.choice(({}, {"tracks": [0, 1, 2, 3]}))}
    choices: dict[str, tuple[dict[str, Any], ...]] = {
        "op_profile": tuple({"by": by} for by in ("program", "category", "framework", "source")),
        "buffers": ({}, {"memory_space": 1}),
        "memory_holders": tuple({"at_ps": time} for time in _TIMES),
        "events": ({}, {"pattern": ".*x"}, {"limit": 3}, {"min_python_ps": 10**6}),
        "sql": tuple({"text": f"SELECT * FROM {table} LIMIT 50"} for table in _TABLES),
        "graph_search": ({"text": "a"}, {"text": "f32 x", "limit": 3}, {"text": "'"}),
        "trace_search": ({"text": "a"}, {"text": "/x|o/"}, {"text": "'", "from_ps": 5}),
        "trace_event": tuple({"track": track, "event": event} for track in range(6) for event in (0, 1)),
    }
    return chance.choice(choices.get(query, ({},)))


def _ops(profile: xp.Profile) -> list[tuple[str, str]]:
    keys = [trace.keys for trace in profile.data.hosts]
    found = [(str(each.program_id[row]), str(each.op[row])) for each in keys for row in range(len(each))[:_MOST_KEYS]]
    return found or [("1", "fusion")]
