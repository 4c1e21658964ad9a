"""Which kernels and copies did the GPUs run, how were they launched, what did they move? A row per kernel and op."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xprof_nb.analysis.kernel_traits import is_collective, uses_tensor_cores
from xprof_nb.analysis.op_identity import described_keys
from xprof_nb.analysis.selection import HostPart, Selection, chosen_parts
from xprof_nb.model import units
from xprof_nb.model.answer import Answer
from xprof_nb.model.columns import words
from xprof_nb.model.kernels import GRAPH, KERNEL, KINDS
from xprof_nb.model.profile import ProfileData

_LAUNCH = [
    "grid",
    "block",
    "registers_per_thread",
    "static_shared_bytes",
    "dynamic_shared_bytes",
    "occupancy_fraction",
]
COLUMNS = [
    "host",
    "device",
    "kernel",
    "kind",
    "program",
    "program_id",
    "op",
    "category",
    "framework_op",
    "occurrences",
    "time_ps",
    "mean_time_ps",
    "min_time_ps",
    "max_time_ps",
    "time_fraction",
    *_LAUNCH,
    "uses_tensor_cores",
    "is_collective",
    "bytes",
    "bytes_per_s",
    "streams",
]


def kernels(profile: ProfileData, selection: Selection, like_xprof: bool) -> Answer:
    """Return one row per host, device, kernel, op and launch shape, the most expensive first.

    Kernels need no HLO: without it their op is the kernel itself. Times are the kernels' own, so those of streams
    that overlap add up to more than the device was busy; ``time_fraction`` is the share of the sum of kernel times.
    ``bytes_per_s`` of copies and fills is bytes over time, where every one of them states its size.
    """
    parts = [part for part in chosen_parts(profile, selection) if len(part.trace.kernels)]
    if like_xprof:
        from xprof_nb.analysis.xprof.kernels import kernel_stats  # noqa: PLC0415

        return kernel_stats(profile, parts, _why_empty(profile, parts))
    frames = [_grouped(part, described_keys(profile, part.trace)) for part in parts if len(part.rows)]
    frame = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=COLUMNS)
    total_ps = frame["time_ps"].sum()
    frame["time_fraction"] = frame["time_ps"] / total_ps if total_ps else np.nan
    frame = frame.sort_values(["time_ps", "kernel"], ascending=[False, True], kind="stable").reset_index(drop=True)
    said = [*profile.all_notes]
    return Answer(frame[COLUMNS], _summary(frame), (*said, *_why_empty(profile, parts)))


def _grouped(part: HostPart, described: pd.DataFrame) -> pd.DataFrame:
    """Return the sums of the chosen kernels of one host."""
    table, rows = part.trace.kernels, part.rows
    events = pd.DataFrame(
        {
            "device": table.device[rows],
            "name": table.name[rows],
            "kind": table.kind[rows],
            "launch": table.launch[rows],
            "key": part.trace.ops.key[rows],
            "occurrences": np.maximum(part.trace.ops.occurrences[rows], 1),
            "duration_ps": table.duration_ps[rows],
            "bytes": table.bytes[rows],
            "unsized": np.isnan(table.bytes[rows]),
        }
    )
    identity = ["device", "name", "kind", "launch", "key"]
    groups = events.groupby(identity, sort=False)
    sums = groups.agg(
        occurrences=("occurrences", "sum"),
        time_ps=("duration_ps", "sum"),
        min_time_ps=("duration_ps", "min"),
        max_time_ps=("duration_ps", "max"),
        bytes=("bytes", "sum"),
        unsized=("unsized", "any"),
    ).reset_index()
    frame = sums.assign(
        host=part.trace.host,
        device=_named([device.name for device in part.trace.devices], sums["device"]),
        kernel=_named(table.names, sums["name"]),
        streams=_streams(part, groups.ngroup().to_numpy(), len(sums)),
        mean_time_ps=sums["time_ps"] / sums["occurrences"],
        bytes=sums["bytes"].where(~sums["unsized"]),
    )
    frame["bytes_per_s"] = frame["bytes"] / (frame["time_ps"].where(frame["time_ps"] > 0) * 1e-12)
    for column in _LAUNCH:
        values = getattr(table.launches, column)
        frame[column] = np.array([*values, None if values.dtype == object else np.nan], values.dtype)[sums["launch"]]
    of_op = described.iloc[sums["key"]].reset_index(drop=True)
    for column in ("program", "program_id", "op", "category", "framework_op"):
        frame[column] = of_op[column]
    kind = _named(KINDS, sums["kind"])
    frame["kind"] = kind
    runs_code = np.isin(kind, [KERNEL, GRAPH])
    vendors = {device.vendor for device in part.trace.devices}
    frame["uses_tensor_cores"] = uses_tensor_cores(frame["kernel"], runs_code, vendors)
    frame["is_collective"] = is_collective(frame["kernel"], frame["category"])
    for column in ("kernel", "kind", "grid", "block", "streams", "program", "op", "category", "framework_op"):
        frame[column] = words(frame[column])
    return frame


def _named(names: Any, codes: pd.Series[int]) -> NDArray[np.object_]:
    return np.array([*names, None], object)[codes.to_numpy(np.int64)]


def _streams(part: HostPart, group: NDArray[np.int64], count: int) -> list[str]:
    """Return for each group the streams it ran on."""
    table = part.trace.kernels
    pairs = pd.DataFrame({"group": group, "stream": table.stream[part.rows]}).drop_duplicates()
    shown = pairs.assign(name=_named(table.streams, pairs["stream"])).groupby("group")["name"].agg(", ".join)
    return list(shown.reindex(range(count)))


def _summary(frame: pd.DataFrame) -> dict[str, Any]:
    if not len(frame):
        return {"kernel_count": 0, "launch_count": 0, "kernel_time_ps": 0, "sentence": "No kernel was recorded."}
    time_ps, launches = int(frame["time_ps"].sum()), int(frame["occurrences"].sum())
    copied = frame.loc[~frame["kind"].isin([KERNEL, GRAPH])]
    by_name = frame.groupby("kernel")["time_ps"].sum()
    top = str(by_name.idxmax())
    share = float(by_name.max()) / time_ps if time_ps else None
    shown = top if len(top) <= 60 else f"{top[:59]}…"
    return {
        "kernel_count": int(frame["kernel"].nunique()),
        "launch_count": launches,
        "kernel_time_ps": time_ps,
        "copy_time_ps": int(copied["time_ps"].sum()),
        "copied_bytes": None if copied["bytes"].isna().any() else float(copied["bytes"].sum()),
        "tensor_core_time_ps": int(frame.loc[frame["uses_tensor_cores"].fillna(False).astype(bool), "time_ps"].sum()),
        "top_kernel": top,
        "sentence": (
            f"{units.counted(frame['kernel'].nunique(), 'kernel or copy', 'kernels and copies')} in "
            f"{units.counted(launches, 'launch', 'launches')} took "
            f"{units.duration(time_ps)}; the most expensive is {shown} ({units.percent(share)})."
        ),
    }


def _why_empty(profile: ProfileData, parts: list[HostPart]) -> tuple[str, ...]:
    if any(len(part.rows) for part in parts):
        return ()
    if any(len(host.kernels) for host in profile.hosts):
        return ("No kernel ran in the chosen part of the profile.",)
    backends = {device.backend for device in profile.devices}
    if backends and "gpu" not in backends:
        kinds = " and ".join(sorted(backend.upper() for backend in backends))
        return (f"Kernels are what GPUs run; this profile is of {kinds}, whose ops have none. See ops().",)
    return (
        "No GPU kernel was recorded: nothing ran on a GPU during the capture, or it could not be traced. Capture again "
        "while it works; %xprof doctor says whether it can be.",
    )
