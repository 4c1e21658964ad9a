"""What did communication cost? Bytes, bandwidth and exposed time of collectives and asynchronous copies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xprof_nb.analysis.collective_ops import COPIES, bus_factor, moving_keys
from xprof_nb.analysis.moving_spans import compute_moments, moving_spans
from xprof_nb.analysis.selection import HostPart, Selection, chosen_parts
from xprof_nb.analysis.steps import chosen_steps, measured
from xprof_nb.analysis.xprof import overlap as xprof_overlap
from xprof_nb.model import units
from xprof_nb.model.answer import Answer
from xprof_nb.model.columns import as_frame, taken, words
from xprof_nb.model.intervals import union
from xprof_nb.model.kernels import GRAPH
from xprof_nb.model.profile import ProfileData
from xprof_nb.model.roofs import roofs_of

Rows = NDArray[np.int64]

COLUMNS = [
    "host",
    "device",
    "program",
    "program_id",
    "op",
    "kind",
    "is_async",
    "framework_op",
    "scope",
    "source",
    "dtype",
    "payload_bytes",
    "replica_groups",
    "group_size",
    "occurrences",
    "time_ps",
    "exposed_time_ps",
    "overlapped_time_ps",
    "exposed_fraction",
    "exposed_per_step_ps",
    "wait_time_ps",
    "algorithm_bytes_per_s",
    "bus_bytes_per_s",
    "link_utilization",
]
EXPOSED_MEANS = "exposed: time of a device in which data moved and no op computed; overlapping movements count once"
_MOST_STEPS = 1000
_PLURALS = {
    "host offload": "Host offload copies",
    "async copy": "Asynchronous copies",
    "host-to-device copy": "Host-to-device copies",
    "device-to-host copy": "Device-to-host copies",
    "peer-to-peer copy": "Peer-to-peer copies",
    "send/recv": "Sends and receives",
}


def collectives(profile: ProfileData, selection: Selection, like_xprof: bool) -> Answer:
    """Return one row per host, device, program and op that moves data between devices or memories.

    ``payload_bytes`` is of one occurrence, as nccl-tests counts it: what each device puts in, of an all-gather what
    each has in the end. ``time_ps`` is from start to done. ``algorithm_bytes_per_s`` is payload over time and
    ``bus_bytes_per_s`` that times nccl-tests' factor: 2(n-1)/n for an all-reduce of n devices, (n-1)/n for all-gather,
    reduce-scatter and all-to-all, else 1. ``exposed_time_ps`` is the part of the time in which no op of the device
    computed. ``wait_time_ps`` is by how much occurrences took longer than on the device that was fastest in the same
    one, as in xprof: the others waited for it.

    Raises
    ------
    UsageError
        The selection names what the profile does not have.
    """
    if like_xprof:
        return xprof_overlap.overlap(profile, selection)
    parts = chosen_parts(profile, selection)
    found = [_PartMoves(profile, part, selection) for part in parts]
    tables = [each.rows() for each in found if each.by_op]
    frame = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=COLUMNS)
    if len(frame):
        frame = _with_rates(frame.assign(wait_time_ps=_wait_times(frame, found)))
    frame = frame.sort_values(["exposed_time_ps", "op"], ascending=[False, True]).reset_index(drop=True)
    summary = _summary(frame, found)
    return Answer(frame[COLUMNS], summary, _notes(profile, frame, summary))


class _PartMoves:
    """The movements of one host; those of a device and op follow one another in time."""

    def __init__(self, profile: ProfileData, part: HostPart, selection: Selection) -> None:
        self.part = part
        self.keys = moving_keys(profile, part.trace)
        spans = moving_spans(profile, part, selection)
        self.spans = spans.sort_values(["device_row", "key", "start_ps"], kind="stable", ignore_index=True)
        self.start_ps, self.end_ps = (self.spans[name].to_numpy(np.int64) for name in ("start_ps", "end_ps"))
        self.by_op: dict[tuple[int, int], Rows] = self.spans.groupby(["device_row", "key"], sort=False).indices
        self.compute = {int(row): compute_moments(profile, part.trace, int(row)) for row in part.devices}
        self.steps = self._measured_steps(selection)
        self.step_bounds = {
            int(device): (steps["device_start_ps"].to_numpy(np.int64), steps["until_ps"].to_numpy(np.int64))
            for device, steps in self.steps.groupby("device_row")
        }

    def _measured_steps(self, selection: Selection) -> pd.DataFrame:
        """Return the chosen steps that means are made of, with ``until_ps``: the begin of the next, device's clock."""
        steps = as_frame(measured(chosen_steps(self.part.trace, selection)))
        steps = steps[steps["device_row"].isin(self.part.devices)]
        length_ps = steps["step_time_ps"].fillna(steps["duration_ps"]).astype(np.int64)
        return steps.assign(until_ps=steps["device_start_ps"] + length_ps)

    def rows(self) -> pd.DataFrame:
        """Return a row per device and op."""
        trace = self.part.trace
        devices = np.array([device for device, _ in self.by_op], np.int64)
        keys = np.array([key for _, key in self.by_op], np.int64)
        of_op = list(self.by_op.values())
        per_step = [self.exposed_in_steps(device, rows) for (device, _), rows in self.by_op.items()]
        covered = np.array([self.covered_ps(rows) for rows in of_op], np.int64)
        exposed = np.array([self.exposed_ps(rows) for rows in of_op], np.int64)
        frame = as_frame(taken(self.keys, keys))
        return frame.assign(
            host=trace.host,
            device_row=devices,
            key=keys,
            device=[trace.devices[row].name for row in devices],
            scope=words(_scope(path) for path in frame["framework_op"]),
            is_async=[bool(self.spans["is_async"].iat[rows[0]]) for rows in of_op],
            occurrences=[int(self.spans["occurrences"].to_numpy()[rows].sum()) for rows in of_op],
            time_ps=[int((self.end_ps - self.start_ps)[rows].sum()) for rows in of_op],
            exposed_time_ps=exposed,
            overlapped_time_ps=covered - exposed,
            exposed_fraction=exposed / np.where(covered > 0, covered, np.nan),
            exposed_per_step_ps=np.array([each.mean() if len(each) else np.nan for each in per_step], np.float64),
            link_bytes_per_s=[link.value if (link := roofs_of(trace.devices[row]).link) else np.nan for row in devices],
        )

    def exposed_ps(self, rows: Rows) -> int:
        """Return the exposed time of movements of one device."""
        if not len(rows):
            return 0
        moments = union(self.start_ps[rows], self.end_ps[rows])
        return moments.length_ps - moments.common_ps(self.compute[int(self.spans["device_row"].iat[rows[0]])])

    def covered_ps(self, rows: Rows) -> int:
        """Return the time in which any of some movements of one device went on."""
        return union(self.start_ps[rows], self.end_ps[rows]).length_ps

    def exposed_by_step(self, kinds: NDArray[np.bool_]) -> pd.DataFrame:
        """Return ``step, length_ps, exposed_ps`` of each whole step and device, for movements of some kinds."""
        moves = kinds[self.spans["key"]]
        parts = []
        for device, (begin, until) in self.step_bounds.items():
            rows = np.flatnonzero(moves & (self.spans["device_row"] == device).to_numpy())
            numbers = self.steps.loc[self.steps["device_row"] == device, "step"]
            exposed = self.exposed_in_steps(device, rows)
            parts.append(pd.DataFrame({"step": numbers, "length_ps": until - begin, "exposed_ps": exposed}))
        return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()

    def exposed_in_steps(self, device: int, rows: Rows) -> NDArray[np.float64]:
        """Return the exposed time in each whole step of a device of some of its movements."""
        begin, until = self.step_bounds.get(device, (self.start_ps[:0], self.start_ps[:0]))
        if not len(begin):
            return np.empty(0, np.float64)
        moves, compute = union(self.start_ps[rows], self.end_ps[rows]), self.compute[device]
        first = np.searchsorted(until, moves.begin_ps, side="right")
        count = np.maximum(np.searchsorted(begin, moves.end_ps) - first, 0)
        move = np.repeat(np.arange(len(count)), count)
        step = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count) + first[move]
        low, high = np.maximum(moves.begin_ps[move], begin[step]), np.minimum(moves.end_ps[move], until[step])
        exposed = np.bincount(step, high - low - compute.covered_ps(low, high), len(begin))
        return exposed.astype(np.float64)


def _with_rates(frame: pd.DataFrame) -> pd.DataFrame:
    time_s = frame["time_ps"].where(frame["time_ps"] > 0) * 1e-12
    factor = [bus_factor(str(kind), size) for kind, size in zip(frame["kind"], frame["group_size"], strict=True)]
    algorithm = frame["payload_bytes"] * frame["occurrences"] / time_s
    bus = algorithm * np.array(factor, np.float64)
    used = (bus / frame["link_bytes_per_s"]).where(~frame["kind"].isin(COPIES))
    return frame.assign(algorithm_bytes_per_s=algorithm, bus_bytes_per_s=bus, link_utilization=used)


def _scope(path: str | None) -> str | None:
    """Return where in the model an op is: its framework path without the primitive at the end."""
    scope = (path or "").rpartition("/")[0]
    return scope or None


def _wait_times(frame: pd.DataFrame, found: list[_PartMoves]) -> NDArray[np.float64]:
    """Return by how much the occurrences of each row took longer than the fastest device's, NaN if nothing tells."""
    waits = np.full(len(frame), np.nan)
    collective = frame[~frame["kind"].isin(COPIES)]
    part_of = {each.part.trace.host: each for each in found}
    for _, rows in collective.groupby(["program_id", "op"], sort=False):
        times = []
        for host, device, key in zip(rows["host"], rows["device_row"], rows["key"], strict=True):
            part = part_of[host]
            of_op = part.by_op[device, key]
            times.append(part.end_ps[of_op] - part.start_ps[of_op])
        if len(times) > 1 and len({len(each) for each in times}) == 1:
            stacked = np.stack(times)
            waits[rows.index] = (stacked - stacked.min(axis=0)).sum(axis=1)
    return waits


def _summary(frame: pd.DataFrame, found: list[_PartMoves]) -> dict[str, Any]:
    by_kind = [_of_kind(str(kind), rows, found) for kind, rows in frame.groupby("kind", sort=False)]
    by_kind.sort(key=lambda each: -each["exposed_time_ps"])
    steps = _by_step(found, copies=False)
    copies = _by_step(found, copies=True)
    devices = sum(len(each.part.devices) for each in found)
    summary: dict[str, Any] = {
        "device_count": devices,
        "exposed_means": EXPOSED_MEANS,
        **_link(found),
        "by_kind": by_kind,
        **_per_step(steps, ""),
        **_per_step(copies, "copy_"),
        "steps": _joined(steps, copies).head(_MOST_STEPS).to_dict("records") if len(steps) else [],
    }
    summary["sentence"] = _sentence(by_kind, summary)
    return summary


def _link(found: list[_PartMoves]) -> dict[str, Any]:
    """Return the peak that bandwidths are measured against, and who states it."""
    peaks = (roofs_of(each.part.trace.devices[row]).link for each in found for row in each.part.devices)
    peak = next((peak for peak in peaks if peak is not None), None)
    return {
        "link_peak_bytes_per_s": peak.value if peak else None,
        "link_peak_label": peak.label if peak else None,
        "link_peak_source": peak.source if peak else None,
    }


def _joined(steps: pd.DataFrame, copies: pd.DataFrame) -> pd.DataFrame:
    """Return the steps with the exposed time of copies beside that of collectives."""
    return steps.merge(copies[["step", "exposed_ps"]].rename(columns={"exposed_ps": "copy_exposed_ps"}), on="step")


def _of_kind(kind: str, rows: pd.DataFrame, found: list[_PartMoves]) -> dict[str, Any]:
    """Return the sums of one kind; exposed time counts overlapping ops of the kind once."""
    exposed = covered = 0
    for each in found:
        mine = (each.keys["kind"] == kind)[each.spans["key"]]
        devices = each.spans["device_row"].to_numpy()
        of_devices = [np.flatnonzero(mine & (devices == row)) for row in np.unique(devices[mine])]
        exposed += sum(each.exposed_ps(of_device) for of_device in of_devices)
        covered += sum(each.covered_ps(of_device) for of_device in of_devices)
    steps = _by_step(found, kind=kind)
    payload = (rows["payload_bytes"] * rows["occurrences"]).sum(min_count=1)
    return {
        "kind": kind,
        "occurrences": int(rows["occurrences"].sum()),
        "time_ps": int(rows["time_ps"].sum()),
        "exposed_time_ps": int(exposed),
        "exposed_fraction": exposed / covered if covered else None,
        "payload_bytes": None if pd.isna(payload) else float(payload),
        "exposed_per_step_ps": float(steps["exposed_ps"].mean()) if len(steps) else None,
        **{name: _mean_rate(rows, name) for name in ("algorithm_bytes_per_s", "bus_bytes_per_s", "link_utilization")},
    }


def _mean_rate(rows: pd.DataFrame, name: str) -> float | None:
    """Return a rate over the time of the ops that have it: bytes of all over time of all."""
    known = rows[rows[name].notna()]
    time_ps = float(known["time_ps"].sum())
    return float((known[name] * known["time_ps"]).sum()) / time_ps if time_ps else None


def _by_step(found: list[_PartMoves], copies: bool | None = None, kind: str | None = None) -> pd.DataFrame:
    """Return for each whole step its length and the exposed time in it, as means over the devices."""
    parts = []
    for each in found:
        kinds = each.keys["kind"]
        chosen = {kind} if kind is not None else {*kinds} & {*COPIES} if copies else {*kinds} - {*COPIES, None}
        parts.append(each.exposed_by_step(np.array([item in chosen for item in kinds], np.bool_)))
    parts = [part for part in parts if len(part)]
    if not parts:
        return pd.DataFrame()
    mean = pd.concat(parts).groupby("step")[["length_ps", "exposed_ps"]].mean().reset_index()
    return mean.assign(exposed_fraction=mean["exposed_ps"] / mean["length_ps"].where(mean["length_ps"] > 0))


def _per_step(steps: pd.DataFrame, prefix: str) -> dict[str, float | None]:
    if not len(steps):
        return {f"{prefix}exposed_per_step_ps": None, f"{prefix}exposed_step_fraction": None, "step_time_mean_ps": None}
    exposed, length = float(steps["exposed_ps"].mean()), float(steps["length_ps"].mean())
    return {
        f"{prefix}exposed_per_step_ps": exposed,
        f"{prefix}exposed_step_fraction": exposed / length if length else None,
        "step_time_mean_ps": length,
    }


def _sentence(by_kind: list[dict[str, Any]], summary: dict[str, Any]) -> str:
    """Return what is exposed in a step: collectives first, then copies."""
    if not by_kind:
        return "No data moved between devices."
    step = summary["step_time_mean_ps"]
    said = []
    for prefix, name, kinds in (
        ("", "Collectives", [each for each in by_kind if each["kind"] not in COPIES]),
        ("copy_", "Copies", [each for each in by_kind if each["kind"] in COPIES]),
    ):
        if not kinds:
            continue
        subject = _plural(kinds[0]["kind"]) if len(kinds) == 1 else name
        largest = _plural(kinds[0]["kind"])
        most = (
            f", most of it in {largest[0].lower()}{largest[1:]}"
            if len(kinds) > 1 and kinds[0]["exposed_time_ps"]
            else ""
        )
        exposed, share = summary[f"{prefix}exposed_per_step_ps"], summary[f"{prefix}exposed_step_fraction"]
        if exposed and share is not None:
            percent = units.percent(share)
            said.append(
                f"{subject} are exposed {units.duration(exposed)} of a {units.duration(step)} step ({percent}){most}."
            )
            continue
        total = sum(each["exposed_time_ps"] for each in kinds) / max(summary["device_count"], 1)
        where = " outside the steps" if step else ""
        unknown = "" if step else "; no whole step is known"
        hidden = f"{subject} are hidden behind compute." if not total else ""
        said.append(hidden or f"{subject} are exposed {units.duration(total)} a device{where}{most}{unknown}.")
    return " ".join(said)


def _plural(kind: str) -> str:
    return _PLURALS.get(kind, f"{kind[0].upper()}{kind[1:]}s")


def _notes(profile: ProfileData, frame: pd.DataFrame, summary: dict[str, Any]) -> tuple[str, ...]:
    notes = [*profile.all_notes]
    if not len(frame):
        notes.append(_why_empty(profile))
        return tuple(notes)
    for unknown, why in (
        (~frame["kind"].isin(COPIES), "the profile has no HLO text that states the shapes"),
        (frame["kind"].isin(COPIES), "the profile does not say how much was copied"),
    ):
        ops = frame.loc[unknown & frame["payload_bytes"].isna(), "op"].drop_duplicates().head(3)
        if len(ops):
            notes.append(f"No bytes or bandwidth of {', '.join(ops)}: {why}.")
    if summary["step_time_mean_ps"] is None:
        notes.append("Nothing is quoted per step: no whole step has any of it, see steps().")
    if frame["link_utilization"].isna().all() and (~frame["kind"].isin(COPIES)).any():
        notes.append("No link utilisation: the link's peak of this device is not known here.")
    return tuple(notes)


def _why_empty(profile: ProfileData) -> str:
    if not any(len(host.ops) for host in profile.hosts):
        return "No op was recorded, so no collective was: see the notes of ops()."
    devices = profile.devices
    where = "the profile has one device" if len(devices) == 1 else f"{len(devices)} devices were traced"
    text = f"No collective, asynchronous copy or host offload ran in the chosen part of the profile; {where}."
    if any((host.keys.category == GRAPH).any() for host in profile.hosts):
        text += (
            " Command buffers hide what they run: capture with XLA_FLAGS=--xla_gpu_enable_command_buffer= "
            "and restart the kernel."
        )
    return text
