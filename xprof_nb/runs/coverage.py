"""What a profile does not cover: hosts whose file is missing, devices that were not traced."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from xprof_nb.formats import wire
from xprof_nb.formats.codes import LENGTH, VARINT
from xprof_nb.model.program import Program
from xprof_nb.model.trace import HostTrace
from xprof_nb.model.units import listed

_NUMBERED = re.compile(
    r"(.*(?:^|[-_.])(?:w|host|worker|process|proc|rank|task)[-_]?)(\d{1,5})(?:[-_]of[-_](\d{1,5}))?$", re.I
)
_MODULE, _DEVICE_ASSIGNMENT, _REPLICAS, _PARTITIONS = 1, 15, 1, 2
_MOST_DEVICES = 1_000_000
_MOST_HOSTS = 10_000


def coverage_notes(traces: Sequence[HostTrace], programs: Mapping[int, Program]) -> list[str]:
    """Return a sentence for each thing that ran, as far as the files tell, but is not in them."""
    return [*_missing_hosts([trace.host for trace in traces]), *_missing_devices(traces, programs)]


def _missing_hosts(hosts: Sequence[str]) -> Iterator[str]:
    """Compare hosts numbered by their part in the job: a gap in the numbers is one that wrote nothing.

    Other numbers, as those of a cluster's machines, tell nothing of the job.
    """
    found = [match for host in hosts if (match := _NUMBERED.match(host))]
    stems = {match[1] for match in found}
    if len(found) < len(hosts) or len(stems) != 1:
        return
    stated = [int(match[3]) for match in found if match[3]]
    numbers = {int(match[2]) for match in found}
    count = max(stated) if stated else max(numbers) + 1
    missing = [number for number in range(min(count, _MOST_HOSTS)) if number not in numbers]
    if not missing or (len(hosts) == 1 and not stated):
        return
    stem = stems.pop()
    yield (
        f"Hosts found {len(hosts)} of {'' if stated else 'at least '}{count}: "
        f"no file of {listed(f'{stem}{number}' for number in missing)}."
    )


def _missing_devices(traces: Sequence[HostTrace], programs: Mapping[int, Program]) -> Iterator[str]:
    """Compare with what the compiler says of each program, and the TPU runtime of the chips of all hosts."""
    devices = [device for trace in traces for device in trace.devices]
    if not devices:
        return
    ran = {int(number) for trace in traces for number in np.unique(trace.keys.program_id)}
    spread = [
        (replicas * parts, replicas, parts, programs[number].name) for number, replicas, parts in _spread(ran, programs)
    ]
    wanted, replicas, parts, name = max(spread, default=(0, 0, 0, ""))
    chips = sorted({device.global_chip for device in devices if device.global_chip is not None})
    here = f" The chips traced are {listed(map(str, chips))}." if chips else ""
    if len(devices) < wanted <= _MOST_DEVICES:
        yield (
            f"Devices traced {len(devices)} of {wanted}: {name} runs on {wanted} "
            f"(replicas {replicas}, partitions {parts}).{here} Start the profiler in every process, "
            "and open the folder that holds the files of all hosts."
        )
    elif not wanted and chips and chips[0] > 0:
        yield f"Devices of other hosts are not in this profile: its chips are {listed(map(str, chips))} of more."


def _spread(ran: Iterable[int], programs: Mapping[int, Program]) -> Iterator[tuple[int, int, int]]:
    """Yield id, replicas and partitions of the programs that ran, without decoding their instructions."""
    for number in ran:
        proto = programs[number].serialized if number in programs else b""
        if proto:
            counts = _varints(proto, _MODULE, _DEVICE_ASSIGNMENT)
            yield number, counts.get(_REPLICAS) or 1, counts.get(_PARTITIONS) or 1


def _varints(proto: bytes, *path: int) -> dict[int, int]:
    """Return the scalar fields of the message at a path of fields, none where the bytes are damaged."""
    buf = np.frombuffer(proto, np.uint8)
    start, end = 0, len(buf)
    for number in path:
        fields = _fields(buf, start, end)
        inner = fields[(fields[:, 0] == number) & (fields[:, 1] == LENGTH)]
        if not len(inner):
            return {}
        start, end = inner[-1, 2:].tolist()
    fields = _fields(buf, start, end)
    return {number: value for number, kind, value, _ in fields.tolist() if kind == VARINT}


def _fields(
    buf: np.ndarray[tuple[int], np.dtype[np.uint8]], start: int, end: int
) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    table = np.empty((64, 4), np.int64)
    count = wire.scan(buf, start, end, table)
    if count > len(table):
        table = np.empty((count, 4), np.int64)
        wire.scan(buf, start, end, table)
    return table[: max(count, 0)]
