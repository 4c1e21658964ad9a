"""What is in device memory: by device, by array with its holders, and what compiled programs were planned to use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xprof_nb.capture.holders import holders
from xprof_nb.capture.live_arrays import Sizes, called

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

MOST_ARRAYS = 10
MOST_PROGRAMS = 10
MOST_ASKED = 5_000
ALLOCATOR, LIVE_ARRAYS = "the device's allocator", "live arrays"


@dataclass(frozen=True)
class DeviceMemory:
    """What one device held.

    Attributes
    ----------
    measured_by
        `ALLOCATOR`, which sees everything, or `LIVE_ARRAYS`, what Python holds, where a device keeps no statistics.
    before_bytes
        When watching began; None if it is only looked at now.
    peak_bytes
        The largest while it was watched; if it is only looked at now, the largest ever, None where nobody keeps it.
    limit_bytes
        What there is for arrays and programs; None where the device does not say.
    """

    device: str
    measured_by: str
    before_bytes: int | None
    peak_bytes: int | None
    after_bytes: int
    limit_bytes: int | None = None

    @property
    def kept_bytes(self) -> int | None:
        """What the code left behind; negative if it freed more than it made."""
        return None if self.before_bytes is None else self.after_bytes - self.before_bytes


@dataclass(frozen=True)
class LiveArray:
    """An array that is alive.

    Attributes
    ----------
    held_by
        Who holds it, variables first; empty if that could not be found.
    size_bytes
        On all devices of this process together, so copies count.
    """

    held_by: tuple[str, ...]
    dtype: str
    shape: tuple[int, ...]
    sharding: str
    size_bytes: int


@dataclass(frozen=True)
class ProgramMemory:
    """What the compiler planned for one run of a program, on each device.

    Attributes
    ----------
    alias_bytes
        Outputs that take the place of donated arguments; in both of these.
    """

    program: str
    argument_bytes: int
    output_bytes: int
    alias_bytes: int
    temporary_bytes: int
    code_bytes: int

    @classmethod
    def of(cls, program: str, stats: Any) -> ProgramMemory:
        """Return what XLA's statistics of a compiled program say."""
        return cls(
            program=program,
            argument_bytes=int(stats.argument_size_in_bytes),
            output_bytes=int(stats.output_size_in_bytes),
            alias_bytes=int(stats.alias_size_in_bytes),
            temporary_bytes=int(stats.temp_size_in_bytes),
            code_bytes=int(stats.generated_code_size_in_bytes),
        )

    @property
    def needed_bytes(self) -> int:
        """What has to be there at once while it runs."""
        return self.argument_bytes + self.output_bytes - self.alias_bytes + self.temporary_bytes + self.code_bytes


@dataclass(frozen=True)
class MemoryReport:
    """What was seen of device memory."""

    devices: tuple[DeviceMemory, ...]
    arrays: tuple[LiveArray, ...]
    programs: tuple[ProgramMemory, ...]
    notes: tuple[str, ...]


def largest_arrays(arrays: Iterable[Any], names: Mapping[str, Any]) -> tuple[LiveArray, ...]:
    """Return the largest arrays with who holds them; ``names`` are the notebook's variables."""
    sizes, sized = Sizes(), []
    for array in arrays:
        try:
            each, devices = sizes.of((array.shape, array.dtype, array.sharding))
        except RuntimeError:  # deleted by the program since it was listed
            continue
        sized.append((each * len(devices), array))
    sized.sort(key=lambda item: item[0], reverse=True)
    shown = sized[:MOST_ARRAYS]
    held_by = holders((array for _, array in shown), names)
    return tuple(
        LiveArray(held_by[id(array)], str(array.dtype), tuple(array.shape), called(array.sharding), size)
        for size, array in shown
    )


def planned_programs(devices: Sequence[Any], ran: Collection[str] = ()) -> tuple[ProgramMemory, ...]:
    """Return the compiled programs that are alive, the neediest first; of these names, if any are given.

    There are none where the runtime does not tell.
    """
    found = {}
    for executables in executables_of(devices):
        for executable in executables[:MOST_ASKED]:
            planned = planned_for(executable)
            if planned is not None and (not ran or planned.program in ran):
                found[planned] = planned.needed_bytes
    return tuple(sorted(found, key=lambda program: found[program], reverse=True)[:MOST_PROGRAMS])


def executables_of(devices: Iterable[Any]) -> list[list[Any]]:
    """Return the compiled programs that are alive, a list for each runtime; empty where it does not tell."""
    clients = {id(device.client): device.client for device in devices}
    return [getattr(client, "live_executables", list)() for client in clients.values()]


def planned_for(executable: Any) -> ProgramMemory | None:
    """Return what was planned for a program, None where the runtime refuses."""
    try:
        return ProgramMemory.of(str(executable.hlo_modules()[0].name), executable.get_compiled_memory_stats())
    except Exception:  # backends refuse in ways of their own, and a program less is no harm
        return None
