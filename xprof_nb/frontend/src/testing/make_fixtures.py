"""Write the fixtures of the TypeScript tests with the Python codec: ``python make_fixtures.py``.

``columns.json`` holds one table of every column type beside the values it was made of; ``op_profile.json`` is a
payload as a transformer step on a CPU gives it, with a pruned branch, idle time, a custom call without costs, a
utilisation above its peak and names that try to be markup.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from xprof_nb.model import columns

HERE = Path(__file__).parent
PEAK_FLOPS_PER_S = 113e9
PEAK_BYTES_PER_S = 18.2e9
TOTAL_PS = 2_480_000_000_000
HOSTILE = '<img src=x onerror="globalThis.pwned=1">&amp;'

# name, category, work kind, share of time, FLOP, bytes, occurrences, bound by, framework op, source
OPS: list[tuple[Any, ...]] = [
    ("dot.14", "dot", "matrix", 0.231, 49.6e9, 3.1e9, 1200, "compute", "jit(train_step)/transformer/mlp/dot_general", "In[5]:14"),
    ("dot.9", "dot", "matrix", 0.142, 30.0e9, 2.2e9, 1200, "compute", "jit(train_step)/transformer/attention/dot_general", "In[5]:9"),
    ("dot.21", "dot", "matrix", 0.074, 14.9e9, 1.4e9, 1200, "compute", "jit(train_step)/transpose(jvp(transformer))/mlp/dot_general", "In[5]:14"),
    ("dot_add_fusion.3", "convolution fusion", "matrix", 0.031, 9.4e9, 0.5e9, 600, "compute", "jit(train_step)/transformer/out/add", "In[5]:17"),
    ("exponential_reduce_fusion", "loop fusion", "elementwise", 0.118, 1.2e9, 4.9e9, 1200, "memory", "jit(train_step)/transformer/attention/softmax", "In[5]:10"),
    ("multiply_add_fusion.12", "loop fusion", "elementwise", 0.061, 0.9e9, 2.6e9, 2400, "memory", "jit(train_step)/adam/add", "/home/me/project/optim.py:88"),
    ("broadcast_multiply_fusion.2.clone.remat", "loop fusion", "elementwise", 0.022, 0.3e9, 0.9e9, 2400, "memory", "jit(train_step)/transformer/layer_norm/mul", "In[5]:7"),
    ("reduce.44", "reduce", "elementwise", 0.009, 0.1e9, 0.4e9, 1200, "memory", "jit(train_step)/loss/reduce_sum", "In[5]:21"),
    ("transpose.8", "data formatting", "data", 0.052, 0.0, 2.1e9, 1200, "memory", "jit(train_step)/transformer/attention/transpose", "In[5]:9"),
    ("copy.31", "copy", "data", 0.018, 0.0, 0.8e9, 3600, "memory", None, None),
    ("gather.2", "gather", "data", 0.006, 0.0, 0.2e9, 600, "memory", "jit(train_step)/embed/take", "In[5]:4"),
    ("all-reduce.1", "all-reduce", "collective", 0.047, 0.0, 0.6e9, 600, "link", "jit(train_step)/psum", "In[6]:2"),
    ("custom-call.5", "custom-call", "custom", 0.040, np.nan, np.nan, 600, None, "jit(train_step)/flash_attention", "/home/me/project/kernels.py:31"),
    (HOSTILE, "loop fusion", "elementwise", 0.003, 0.0, 0.1e9, 1, "memory", HOSTILE, HOSTILE),
    ("while.7", "while", "control", 0.002, 0.0, 0.0, 600, None, None, None),
]


def node(parent: int, depth: int, key: str, kind: str, name: str, share: float, **values: Any) -> dict[str, Any]:
    """Return one row; rates and utilisations follow from time, FLOPs and bytes."""
    time_ps = share * TOTAL_PS
    flops, size = values.pop("flops", np.nan), values.pop("bytes_accessed", np.nan)
    flops_per_s, bytes_per_s = flops / (time_ps / 1e12), size / (time_ps / 1e12)
    bound = values.get("bound_by")
    best = {"compute": flops_per_s / PEAK_FLOPS_PER_S, "memory": bytes_per_s / PEAK_BYTES_PER_S}.get(bound or "", 0.0)
    row = {
        "parent": parent, "depth": depth, "key": key, "kind": kind, "work_kind": "control", "name": name,
        "program": None, "program_id": None, "op": None, "category": None, "framework_op": None, "source": None,
        "occurrences": np.nan, "time_ps": time_ps, "self_time_ps": time_ps, "time_fraction": share,
        "flops": flops, "flops_per_s": flops_per_s, "flops_utilization": flops_per_s / PEAK_FLOPS_PER_S,
        "bytes_accessed": size, "bytes_per_s": bytes_per_s, "hbm_bytes_per_s": bytes_per_s, "hbm_utilization": bytes_per_s / PEAK_BYTES_PER_S,
        "bound_by": None, "wasted_fraction": np.nan if bound is None else share * max(0.0, 1 - best), "children_total": 0,
    }
    return row | values


def rows() -> list[dict[str, Any]]:
    """Return the tree in preorder: root, programs, categories, ops, and what a fusion holds."""
    busy = sum(op[3] for op in OPS) + 0.02
    table = [node(-1, 0, "", "root", "all programs", 1.0, flops=115.1e9, bytes_accessed=19.4e9, occurrences=16_500, children_total=3)]

    def add(**row: Any) -> int:
        table.append(node(**row))
        return len(table) - 1

    train = add(parent=0, depth=1, key="/p1", kind="program", name="jit_train_step(1)", share=busy - 0.02, program="jit_train_step", program_id="1",
                flops=106e9, bytes_accessed=19e9, bound_by="compute", occurrences=600, children_total=len({op[1] for op in OPS}))
    for category in dict.fromkeys(op[1] for op in OPS):
        members = [op for op in OPS if op[1] == category]
        key = f"/p1/{category}"
        bound = members[0][7]
        group = add(parent=train, depth=2, key=key, kind="category", name=category, category=category, work_kind=members[0][2],
                    share=sum(op[3] for op in members), flops=sum(op[4] for op in members), bytes_accessed=sum(op[5] for op in members),
                    bound_by=bound, occurrences=sum(op[6] for op in members), program="jit_train_step", program_id="1",
                    children_total=len(members) + (412 if category == "loop fusion" else 0))
        for name, _, kind, share, flops, size, count, bound_by, framework_op, source in members:
            op = add(parent=group, depth=3, key=f"{key}/{name}", kind="op", name=name, op=name, category=category, work_kind=kind, share=share,
                     flops=flops, bytes_accessed=size, occurrences=count, bound_by=bound_by, framework_op=framework_op, source=source,
                     program="jit_train_step", program_id="1", children_total=2 if "fusion" in name else 0)
            if "fusion" in name:
                for fused in ("multiply.1", "add.2"):
                    add(parent=op, depth=4, key=f"{key}/{name}/{fused}", kind="fused", name=fused, op=fused, category=category, work_kind=kind,
                        share=np.nan, program="jit_train_step", program_id="1")
    add(parent=0, depth=1, key="/p2", kind="program", name="jit_eval(2)", share=0.02, program="jit_eval", program_id="2", flops=9.1e9,
        bytes_accessed=0.4e9, bound_by="compute", occurrences=3, children_total=2)
    add(parent=0, depth=1, key="/idle", kind="idle", name="idle", work_kind="idle", share=1 - busy)
    return table


def details() -> dict[str, Any]:
    """Return what ``op_details`` says of one fusion."""
    text = (
        "%exponential_reduce_fusion = (f32[32,12,128,128]{3,2,1,0}, f32[32,12,128]{2,1,0}) fusion(%dot.9, %broadcast.4), kind=kLoop, "
        'calls=%fused_computation.3, metadata={op_name="jit(train_step)/transformer/attention/softmax" source_file="In[5]" source_line=10}'
    )
    fused = [
        {"name": "subtract.1", "opcode": "subtract", "shape": "f32[32,12,128,128]{3,2,1,0}", "flops": 6291456},
        {"name": "exponential.4", "opcode": "exponential", "shape": "f32[32,12,128,128]{3,2,1,0}", "flops": 6291456},
        {"name": "reduce.9", "opcode": "reduce", "shape": "f32[32,12,128]{2,1,0}", "flops": 6242304},
    ]
    return {
        "1/exponential_reduce_fusion": {
            "name": "exponential_reduce_fusion", "program": "jit_train_step", "program_id": "1", "opcode": "fusion",
            "category": "loop fusion", "work_kind": "elementwise", "framework_op": "jit(train_step)/transformer/attention/softmax",
            "source": "/tmp/ipykernel_4711/1234567.py:10", "cell": "In[5]:10", "cell_source": "    weights = jax.nn.softmax(scores, axis=-1)",
            "shape": "(f32[32,12,128,128]{3,2,1,0}, f32[32,12,128]{2,1,0})",
            "operands": [{"name": "dot.9", "shape": "f32[32,12,128,128]{3,2,1,0}"}, {"name": "broadcast.4", "shape": "f32[128]{0}"}],
            "hlo_text": text, "fused": fused, "occurrences": 1200, "time_ps": 0.118 * TOTAL_PS, "flops": 1.2e9, "bytes_accessed": 4.9e9,
        }
    }  # fmt: skip


def spread() -> str:
    """Return what ``op_spread`` says of one op, as a snapshot holds it."""
    row = {
        "key": "/p1/dot/dot.14", "time_per_step_ps": 2e9, "step_fraction": 0.25, "device_min_time_ps": 1e11,
        "device_mean_time_ps": 2e11, "device_max_time_ps": 2.5e11, "device_imbalance_fraction": 0.25,
        "slowest_device": "TPU:3",
    }  # fmt: skip
    return base64.b64encode(columns.encode(pd.DataFrame([row]))).decode()


def payload() -> dict[str, Any]:
    """Return the payload of the op profile."""
    frame = pd.DataFrame(rows())
    frame.insert(0, "node", np.arange(len(frame), dtype=np.int32))
    for name in ("parent", "depth", "children_total"):
        frame[name] = frame[name].astype(np.int32)
    # A peak that the calibration underestimated.
    frame.loc[frame["name"] == "dot_add_fusion.3", "flops_utilization"] = 1.31
    summary = {
        "by": "program",
        "sentence": "Busy 87.6 % of 2.48 s on 1 device; matrix work takes 54.6 % of the busy time. "
        "Largest: dot.14, 23.1 % of the time, compute-bound at 76.6 % of the FLOP/s peak.",
        "total_time_ps": TOTAL_PS, "busy_time_ps": 0.876 * TOTAL_PS, "idle_fraction": 0.124, "op_count": 427,
        "node_count": 470, "device_count": 1, "devices": ["CPU:0"],
        "peak_flops_per_s": PEAK_FLOPS_PER_S, "peak_flops_dtype": "f32", "peak_flops_label": "measured",
        "peak_flops_source": "GEMM 2048 f32 through XLA on this host, 2026-11-30 13:40, 2 cores, idle machine",
        "peak_bytes_per_s": PEAK_BYTES_PER_S, "peak_bytes_label": "measured",
        "peak_bytes_source": "triad over 256 MiB on this host, 2026-11-30 13:40, 2 cores, idle machine",
    }  # fmt: skip
    return {
        "version": 1,
        "view": "op_profile",
        "title": "op profile of train-1",
        "run": {
            "name": "train-1", "path": "/home/me/xprof-logs/plugins/profile/train-1", "origin": "captured", "hosts": ["laptop"],
            "devices": ["CPU:0"], "identity": "9f2c",
        },
        "params": {"by": "program"},
        "summary": summary,
        "notes": ["Peaks were measured on this machine, not read from a data sheet."],
        "table": base64.b64encode(columns.encode(frame)).decode(),
        "details": details(),
        "rows_total": 470,
        "package_version": "0.1.0",
    }  # fmt: skip


def every_type() -> dict[str, Any]:
    """Return one encoded table of every column type, and the values it was made of."""
    frame = pd.DataFrame(
        {
            "f8": [1.5, np.nan, -2e300],
            "i4": np.array([1, -2, 2**31 - 1], dtype=np.int32),
            "i8": np.array([1, 2**40, -3], dtype=np.int64),
            "big": np.array([2**60, 1, 0], dtype=np.int64),
            "u1": [True, False, True],
            "str": ["µs – ▸", None, "b"],
        }
    )
    encoded = columns.encode(frame, {"summary": {"answer": 42}, "notes": ["one"]})
    values = {
        "f8": [1.5, None, -2e300], "i4": [1, -2, 2**31 - 1], "i8": [1, 2**40, -3], "u1": [1, 0, 1],
        "big": [str(2**60), "1", "0"], "str": ["µs – ▸", None, "b"],
    }  # fmt: skip
    return {"base64": base64.b64encode(encoded).decode(), "values": values}


if __name__ == "__main__":
    for name, fixture in {"columns": every_type(), "op_profile": payload(), "op_spread": spread()}.items():
        (HERE / f"{name}.json").write_text(json.dumps(fixture, indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")
