"""xprof's own table of kernels: the rules of its ``kernel_stats``, odd ones included.

Rules as in xprof 2.24: a kernel is an event with launch details and a duration of at least 1 ns; times are whole
nanoseconds, also the mean; devices are summed; shared memory of old files (``shm:``) and of AMD's is not read; whether
a kernel uses tensor cores is looked up in lists of names up to Ampere's.
"""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from xprof_nb.analysis.op_identity import readable_program
from xprof_nb.analysis.selection import HostPart, Selection, chosen_parts
from xprof_nb.model.answer import Answer
from xprof_nb.model.columns import words
from xprof_nb.model.profile import ProfileData

_MOST_ROWS = 1000
_NVIDIA = (
    *("16816", "c1688", "conv1x1", "conv2d_c1_k1", "dgrad_1x1_stride_2x2", "direct_group", "first_layer_wgrad_kernel"),
    *("h1688", "h884", "hmma", "i16832", "i8816", "s884", "s1688", "xmma_gemm", "xmma_implicit_gemm"),
    *("xmma_sparse_conv", "xmma_sparse_gemm", "xmma_warp_specialized_implicit_gemm"),
)
_AMD = re.compile(
    r"_MI\d+x\d+x\d|Custom_Cijk_|FMHA_FWD|TileFmhaBwdShape<|TileFmhaShape<|TileGemmShape<"
    r"|gemm_fusion|gemm_xdl|mfma|moe_gemm|moe_mxgemm|wmma"
)
_STATIC = re.compile(r"(?:^|\s)static_shared:(\d{1,9})(?:\s|$)")
_ELIGIBLE_ENDS = (
    *("Conv2D", "Conv2DBackpropFilter", "Conv2DBackpropInput", "Conv3D", "DepthwiseConv2dNative"),
    *("DepthwiseConv2dNativeBackpropFilter", "DepthwiseConv2dNativeBackpropInput", "/MatMul", "FusedMatMul"),
    *("/CudnnRNN", "XlaDot", "XlaDotV2", "dot_general", "conv_general_dilated"),
)
_ELIGIBLE_PARTS = ("BatchMatMul", "CudnnRNNV", "CudnnRNNForward", "CudnnRNNBackprop")
_KEY = ["kernel", "grid", "block", "registers_per_thread", "static", "dynamic", "tensor", "eligible", "op"]
COLUMNS = [
    "kernel",
    "op",
    "occurrences",
    "time_ps",
    "mean_time_ps",
    "min_time_ps",
    "max_time_ps",
    "grid",
    "block",
    "registers_per_thread",
    "shared_bytes",
    "occupancy_fraction",
    "uses_tensor_cores",
    "tensor_core_eligible",
]


def kernel_stats(profile: ProfileData, parts: list[HostPart], notes: tuple[str, ...]) -> Answer:
    """Return the rows of xprof's ``kernel_stats``, over all devices of the chosen part."""
    frames = [_events(profile, part) for part in parts if len(part.rows)]
    if not frames or not sum(map(len, frames)):
        return Answer(pd.DataFrame(columns=COLUMNS), {"kernel_count": 0}, notes or ("xprof counts no kernel here.",))
    events = pd.concat(frames, ignore_index=True)
    rows = events.groupby(_KEY, sort=False, dropna=False).agg(
        occurrences=("ns", "size"),
        total=("ns", "sum"),
        shortest=("ns", "min"),
        longest=("ns", "max"),
        occupancy_fraction=("occupancy", "first"),
    )
    rows = rows.reset_index()
    rows = _in_its_order(rows).head(_MOST_ROWS).reset_index(drop=True)
    frame = rows.assign(
        time_ps=rows["total"] * 1000,
        mean_time_ps=rows["total"] // rows["occurrences"] * 1000,
        min_time_ps=rows["shortest"] * 1000,
        max_time_ps=rows["longest"] * 1000,
        shared_bytes=rows["static"] + rows["dynamic"],
        uses_tensor_cores=rows["tensor"],
        tensor_core_eligible=rows["eligible"],
    )
    for name in ("kernel", "op", "grid", "block"):
        frame[name] = words(frame[name])
    summary = {"kernel_count": len(frame), "kernel_time_ps": int(frame["time_ps"].sum())}
    return Answer(frame[COLUMNS], summary, ("Numbers as xprof computes them.",))


def tensor_cores_by_op(profile: ProfileData, selection: Selection) -> pd.DataFrame:
    """Return by framework op ``tensor_core_fraction`` of its time, ``uses_tensor_cores, tensor_core_eligible``.

    Whether an op is eligible is what the longest of its kernels says.
    """
    parts = [part for part in chosen_parts(profile, selection) if len(part.trace.kernels)]
    frame = kernel_stats(profile, parts, ()).frame
    ops = frame["op"].fillna("")
    used = frame["time_ps"].where(frame["uses_tensor_cores"].astype(np.bool_), 0)
    total, on_cores = (each.groupby(ops, sort=False).sum().astype(np.float64) for each in (frame["time_ps"], used))
    return pd.DataFrame(
        {
            "tensor_core_fraction": (on_cores / total.where(total > 0)).fillna(0.0),
            "uses_tensor_cores": on_cores > 0,
            "tensor_core_eligible": frame["tensor_core_eligible"].groupby(ops, sort=False).first(),
        }
    )


def _events(profile: ProfileData, part: HostPart) -> pd.DataFrame:
    """Return the chosen kernels of one host with what xprof tells them apart by."""
    table = part.trace.kernels
    rows = part.rows[(table.launch[part.rows] >= 0) & (table.duration_ps[part.rows] > 0)]
    shapes, shape = table.launches, table.launch[rows]
    vendors = np.array([device.vendor for device in part.trace.devices], object)[table.device[rows]]
    own = pd.DataFrame({"name": table.name[rows], "vendor": vendors}).drop_duplicates()
    tensor = {
        pair: _uses_tensor_cores(table.names[pair[0]], pair[1]) for pair in own.itertuples(index=False, name=None)
    }
    frame = pd.DataFrame(
        {
            "kernel": np.array(table.names, object)[table.name[rows]],
            "grid": np.array([text or "1,1,1" for text in shapes.grid], object)[shape],
            "block": np.array([text or "1,1,1" for text in shapes.block], object)[shape],
            "registers_per_thread": np.nan_to_num(shapes.registers_per_thread)[shape],
            "static": np.array([_static_bytes(text) for text in shapes.text], np.int64)[shape],
            "dynamic": np.nan_to_num(shapes.dynamic_shared_bytes)[shape],
            "occupancy": np.nan_to_num(shapes.occupancy_fraction)[shape],
            "tensor": [tensor[pair] for pair in zip(table.name[rows].tolist(), vendors, strict=True)],
            "op": _op_names(profile, part, rows),
            "ns": table.duration_ps[rows] // 1000,
        }
    )
    eligible = {name: _is_eligible(name) for name in frame["op"].unique()}
    frame["eligible"] = (frame["op"] != "") & (frame["tensor"] | frame["op"].map(eligible))
    return frame


def _static_bytes(launch: str) -> int:
    found = _STATIC.search(launch)
    return int(found[1]) if found else 0


def _uses_tensor_cores(name: str, vendor: str) -> bool:
    if vendor == "AMD":
        return _AMD.search(name) is not None
    return vendor == "NVIDIA" and any(pattern in name for pattern in _NVIDIA)


def _is_eligible(op: str) -> bool:
    return op.endswith(_ELIGIBLE_ENDS) or any(part in op for part in _ELIGIBLE_PARTS)


def _op_names(profile: ProfileData, part: HostPart, rows: np.ndarray[tuple[int], np.dtype[np.int64]]) -> pd.Series[str]:
    """Return the op of each kernel as xprof names it: the HLO's framework path, else the event's own annotation."""
    table, keys = part.trace.kernels, part.trace.keys
    annotated = np.array([*(text.partition(":")[0] for text in table.framework_ops), ""], object)
    of_key: list[str | None] = []
    for program_id, op, program in zip(keys.program_id, keys.op, keys.program, strict=True):
        found = readable_program(profile, int(program_id)) if program else None
        instruction = found.instruction(str(op)) if found is not None else None
        of_key.append(None if instruction is None else instruction.op_name)
    named = np.array([*of_key, None], object)[part.trace.ops.key[rows]]
    return pd.Series(named).where(pd.notna(named), annotated[table.framework_op[rows]])


def _in_its_order(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows by total time, the longest first, then by what tells them apart."""
    for name in ("grid", "block"):
        sizes = rows[name].str.split(",", expand=True).astype("int64")
        rows = rows.assign(**{f"{name}{axis}": sizes[axis] for axis in range(3)})
    order = ["kernel", *(f"{name}{axis}" for name in ("grid", "block") for axis in range(3)), *_KEY[3:]]
    return rows.sort_values(["total", *order], ascending=[False, *[True] * len(order)], kind="stable")
