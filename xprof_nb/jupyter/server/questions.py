"""What a server and its worker processes say to each other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from xprof_nb.errors import ProfileError


class WorkerError(ProfileError):
    """The process that worked on a question ended, or was ended, before it had an answer."""


class CancelledError(ProfileError):
    """Nobody waits for the answer any more."""


@dataclass(frozen=True)
class Question:
    """What a worker is asked.

    Attributes
    ----------
    kind
        ``query``, ``snapshot`` or ``thumbnail``.
    run
        A path as a browser named it.
    name
        Of the query or view.
    known
        The tag of the answer that the client has; it gets no other one like it.
    """

    kind: str
    run: str
    name: str = ""
    params: dict[str, Any] = field(default_factory=dict)
    known: str = ""


@dataclass(frozen=True)
class Answered:
    """What a worker answers.

    Attributes
    ----------
    tag
        Equal for equal answers, also of another server.
    body
        None where the client has it.
    """

    tag: str
    body: bytes | None


@dataclass(frozen=True)
class Terms:
    """What a worker process is started with.

    Attributes
    ----------
    base, folders
        Those of its `Roots`.
    cache_bytes
        Up to which opened profiles are kept.
    memory_bytes
        Which it may take of its own, where the system can hold it to that (Linux).
    """

    base: str
    folders: tuple[str, ...]
    cache_bytes: int
    memory_bytes: int
