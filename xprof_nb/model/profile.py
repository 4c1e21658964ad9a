"""The data of one opened profile: hosts, what ran on them, the programs, and what is known of the capture."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from xprof_nb.model.device import Device
    from xprof_nb.model.program import Program
    from xprof_nb.model.trace import HostTrace

Origin = Literal["captured", "opened", "forecast", "sweep"]


@dataclass(frozen=True, eq=False)
class ProfileData:
    """One profile, every host joined.

    Attributes
    ----------
    name
        Run name.
    path
        The run folder or file it was opened from.
    programs
        XLA programs by program id.
    metadata
        The sidecar written at capture: name, note, cells, options, versions; empty when there is none.
    identify
        Computes `identity`; hashing every byte is worth it only for who keeps answers.
    """

    name: str
    path: str
    origin: Origin
    hosts: tuple[HostTrace, ...]
    programs: Mapping[int, Program]
    metadata: Mapping[str, Any] = field(default_factory=dict)
    identify: Callable[[], str] = str
    notes: tuple[str, ...] = ()

    @cached_property
    def identity(self) -> str:
        """Hash of what the files contain; equal bytes, equal identity."""
        return self.identify()

    @property
    def all_notes(self) -> tuple[str, ...]:
        """What was joined, left out or is missing, and what each host's file says of itself."""
        return (*self.notes, *(text for host in self.hosts for text in host.notes))

    @property
    def devices(self) -> tuple[Device, ...]:
        """Every device of every host."""
        return tuple(device for host in self.hosts for device in host.devices)
