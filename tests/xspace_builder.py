"""Made-up XSpaces for what no recorded profile has: planes, lines and events by name, stats as keywords."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.formats.xspace_messages import MESSAGES

Stats = Mapping[str, Any]
NS_PER_MS, PS_PER_MS = 10**6, 10**9


class Ref(str):
    """A text written as a reference to the plane's interned strings, as runtimes do."""


class SpaceBuilder:
    """An XSpace under construction."""

    def __init__(self, host: str = "worker") -> None:
        self.message = MESSAGES["Space"](hostnames=[host])
        self.host = host

    def plane(self, name: str, stats: Stats | None = None) -> PlaneBuilder:
        """Add a plane."""
        number = len(self.message.planes) + 1
        return PlaneBuilder(self.message.planes.add(id=number, name=name), stats or {})

    def task_environment(self, start_ns: int, stop_ns: int) -> None:
        """Say when the profiler was started and stopped."""
        self.plane("Task Environment", {"profile_start_time": start_ns, "profile_stop_time": stop_ns})

    def hlo(self, programs: Mapping[str, bytes]) -> None:
        """Add the metadata plane: serialized HloProto by ``module(program id)``."""
        plane = self.plane("/host:metadata")
        for label, proto in programs.items():
            plane.metadata(label, {"Hlo Proto": proto})

    def to_bytes(self) -> bytes:
        """Return the file's content."""
        return bytes(self.message.SerializeToString())

    def write(self, folder: Path) -> Path:
        """Write ``<host>.xplane.pb`` in a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.host}.xplane.pb"
        path.write_bytes(self.to_bytes())
        return path


class PlaneBuilder:
    """One plane; metadata and stat names are numbered as they are first used."""

    def __init__(self, message: Any, stats: Stats) -> None:
        self.message = message
        self._stat_ids: dict[str, int] = {}
        self._ids: dict[str, int] = {}
        self._add_stats(message, stats)

    def metadata(self, name: str, stats: Stats | None = None, display_name: str = "") -> int:
        """Return the id of an event metadata entry, adding it when new."""
        if name not in self._ids:
            self._ids[name] = number = len(self._ids) + 1
            entry = self.message.event_metadata[number]
            entry.id, entry.name, entry.display_name = number, name, display_name
            self._add_stats(entry, stats or {})
        return self._ids[name]

    def alias(self, short: str, name: str) -> None:
        """Let events call a metadata entry by a shorter name."""
        self._ids[short] = self._ids[name]

    def line(self, name: str, timestamp_ns: int = 0, number: int | None = None) -> LineBuilder:
        """Add a line."""
        number = len(self.message.lines) + 1 if number is None else number
        return LineBuilder(self, self.message.lines.add(id=number, name=name, timestamp_ns=timestamp_ns))

    def _add_stats(self, owner: Any, stats: Stats) -> None:
        for name, value in stats.items():
            owner.stats.add(metadata_id=self._stat_id(name), **self._typed(value))

    def _stat_id(self, name: str) -> int:
        if name not in self._stat_ids:
            self._stat_ids[name] = number = len(self._stat_ids) + 1
            self.message.stat_metadata[number].id = number
            self.message.stat_metadata[number].name = name
        return self._stat_ids[name]

    def _typed(self, value: Any) -> dict[str, Any]:
        if isinstance(value, Ref):
            return {"ref_value": self._stat_id(str(value))}
        if isinstance(value, float):
            return {"double_value": value}
        if isinstance(value, int):
            return {"int64_value": int(value)} if value < 2**63 else {"uint64_value": value}
        return {"bytes_value": value} if isinstance(value, bytes) else {"str_value": str(value)}


class LineBuilder:
    """One line of a plane."""

    def __init__(self, plane: PlaneBuilder, message: Any) -> None:
        self._plane = plane
        self.message = message

    def event(self, name: str, start_ps: int, duration_ps: int = 0, **stats: Any) -> LineBuilder:
        """Add an event; chained."""
        number = self._plane.metadata(name)
        event = self.message.events.add(metadata_id=number, offset_ps=start_ps, duration_ps=duration_ps)
        self._plane._add_stats(event, stats)
        return self

    def aggregated(self, name: str, occurrences: int, duration_ps: int, **stats: Any) -> LineBuilder:
        """Add an event without a place in time, n occurrences in one."""
        number = self._plane.metadata(name)
        event = self.message.events.add(metadata_id=number, num_occurrences=occurrences, duration_ps=duration_ps)
        self._plane._add_stats(event, stats)
        return self
