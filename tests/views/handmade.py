"""Answers made by hand, so that names and sizes no real profile has can be shown."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from xprof_nb.errors import ProfileError
from xprof_nb.model.answer import Answer
from xprof_nb.model.device import Device
from xprof_nb.model.profile import ProfileData

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)> & \"'\u202e\x1b[31m\ud800=cmd()"
BUILT = "export default { render() {} }; // </script> in a comment\n"
MILLISECOND_PS = 1_000_000_000.0


def tree(names: list[str]) -> pd.DataFrame:
    """Return the frame of an op profile: a root, a program, the ops of `names` (1, 2, 3 … ms) and idle time."""
    times = np.arange(len(names), 0, -1) * MILLISECOND_PS
    rows = [_node((0, -1, 0), "root", "host", times.sum() * 1.25), _node((1, 0, 1), "program", "jit_step", times.sum())]
    rows += [_node((2 + i, 1, 2), "op", name, time) for i, (name, time) in enumerate(zip(names, times, strict=True))]
    rows.append(_node((2 + len(names), 0, 1), "idle", "idle", times.sum() * 0.25))
    frame = pd.DataFrame(rows)
    frame["time_fraction"] = frame["time_ps"] / frame["time_ps"].iloc[0]
    return frame.astype({"node": "int32", "parent": "int32", "depth": "int32", "children_total": "int32"})


def _node(position: tuple[int, int, int], kind: str, name: str, time_ps: float) -> dict[str, Any]:
    node, parent, depth = position
    is_op = kind == "op"
    return {
        "node": node,
        "parent": parent,
        "depth": depth,
        "key": f"{kind}:{node}",
        "kind": kind,
        "work_kind": "idle" if kind == "idle" else "matrix",
        "name": name,
        "program": "jit_step" if depth else None,
        "program_id": "17" if is_op else None,
        "op": name if is_op else None,
        "category": "loop fusion" if is_op else None,
        "framework_op": "jit(step)/dot_general" if is_op else None,
        "source": "In[5]:3" if is_op else None,
        "occurrences": 12_000 if is_op else 1,
        "time_ps": time_ps,
        "self_time_ps": time_ps,
        "flops": 1e9 if is_op else np.nan,
        "flops_per_s": 312e12 if is_op else np.nan,
        "flops_utilization": 0.34 if is_op else np.nan,
        "bytes_accessed": 1e6 if is_op else np.nan,
        "bytes_per_s": 1960e9 if is_op else np.nan,
        "hbm_bytes_per_s": 980e9 if is_op else np.nan,
        "hbm_utilization": 1.2 if is_op else np.nan,
        "bound_by": "memory" if is_op else None,
        "wasted_fraction": 0.61 if is_op else np.nan,
        "children_total": 0 if is_op else 3,
    }


@dataclass
class Asked:
    """A profile that answers from a table, and what it was asked."""

    names: list[str]
    details: dict[str, Any] = field(default_factory=dict)
    requests: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def ask(self, profile: ProfileData, name: str, params: dict[str, Any] | None = None) -> Answer:
        params = params or {}
        self.requests.append((name, params))
        if name == "op_details":
            if not self.details:
                raise ProfileError("no program was recorded", hint="Capture again.")
            return Answer(pd.DataFrame(), {"name": params["op"], "occurrences": np.int64(3), **self.details})
        frame = tree(self.names[: params.get("limit", 300)])
        summary = {
            "by": params.get("by", "program"),
            "sentence": f"Memory-bound: {self.names[0][:20]} takes most",
            "node_count": len(self.names) + 3,
            "total_time_ps": float(frame["time_ps"].iloc[0]),
            "peak_flops_per_s": np.nan,
            "devices": ["CPU:0"],
        }
        return Answer(frame, summary, ("no peak for this processor",))

    def result(self, query: str = "op_profile", **params: Any) -> SimpleNamespace:
        data = profile_data()
        answer = self.ask(data, query, params)
        return SimpleNamespace(
            frame=answer.frame,
            summary=answer.summary,
            notes=answer.notes,
            query=query,
            view=query,
            params=params,
            profile=SimpleNamespace(data=data),
        )


def profile_data(name: str = "train-1") -> ProfileData:
    device = Device(host="h", backend="cpu", ordinal=0, name="CPU:0", model="EPYC")
    host = SimpleNamespace(host="h", devices=(device,))
    return ProfileData(
        name=name, path="/runs/train-1", origin="captured", hosts=(host,), programs={}, identify=lambda: "abc"
    )
