"""Which line of whose code an instruction came from."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

_DEEPEST_STACK = 1000
_LIBRARY = re.compile(
    r"""(^|/)(site-packages|dist-packages)/  # installed packages, jax among them
      | (^|/)(jax|jaxlib|flax|optax|numpy)/  # the same from a source tree or a bundle without site-packages
      | /lib/python3[^/]*/                   # the standard library
      | ^<(frozen|embedded)                  # <frozen runpy>, <embedded module …>
    """,
    re.VERBOSE,
)


class Source(NamedTuple):
    """Where an instruction came from: the user's innermost line, and every frame, outermost first."""

    file: str
    line: int
    stack: tuple[str, ...]


UNKNOWN = Source("", 0, ())


class Sources:
    """The stack frames of one module, each resolved once.

    Parameters
    ----------
    index
        The module's ``StackFrameIndex``. All ids in it count from 1; 0 is no entry.
    """

    def __init__(self, index: Any) -> None:
        self._files: list[str] = list(index.file_names)
        self._locations = [(place.file_name_id, place.line, place.column) for place in index.file_locations]
        self._frames = [(frame.file_location_id, frame.parent_frame_id) for frame in index.stack_frames]
        self._resolved: dict[int, Source] = {}

    def of(self, metadata: Any) -> Source:
        """Return the source an ``OpMetadata`` states, by frame (XLA since 2023) or by file and line (before)."""
        frame = metadata.stack_frame_id
        if frame:
            if frame not in self._resolved:
                self._resolved[frame] = _innermost_user_line(self._walk(frame))
            return self._resolved[frame]
        if metadata.source_file:
            place = (metadata.source_file, metadata.source_line, metadata.source_column)
            return Source(place[0], place[1], ("{}:{}:{}".format(*place),))
        return UNKNOWN

    def _walk(self, frame: int) -> list[tuple[str, int, int]]:
        """Return file, line and column from the innermost frame outwards; ends at a damaged or circular link."""
        places: list[tuple[str, int, int]] = []
        for _ in range(_DEEPEST_STACK):
            if not 0 < frame <= len(self._frames):
                break
            location, parent = self._frames[frame - 1]
            if 0 < location <= len(self._locations):
                file, line, column = self._locations[location - 1]
                place = (self._files[file - 1] if 0 < file <= len(self._files) else "", line, column)
                # Frames of the same line repeat where library frames between them were left out.
                if place[0] and places[-1:] != [place]:
                    places.append(place)
            frame = parent
        return places


def _innermost_user_line(places: list[tuple[str, int, int]]) -> Source:
    if not places:
        return UNKNOWN
    file, line, _ = next((place for place in places if not is_library(place[0])), places[0])
    return Source(file, line, tuple("{}:{}:{}".format(*place) for place in reversed(places)))


def is_library(file: str) -> bool:
    """Return whether a source file belongs to an installed package or to Python itself."""
    return _LIBRARY.search(file.replace("\\", "/")) is not None
