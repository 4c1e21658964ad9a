"""What can go wrong, and what to do next."""

from __future__ import annotations

import os


class ProfileError(Exception):
    """A question about a profile that cannot be answered.

    Parameters
    ----------
    what
        What happened, in one sentence without a full stop.
    file
        The file it happened in, if it happened in one.
    position
        Byte position in that file.
    hint
        What the person can do next.
    """

    def __init__(
        self,
        what: str,
        *,
        file: str | os.PathLike[str] | None = None,
        position: int | None = None,
        hint: str = "",
    ) -> None:
        self.what = what
        self.file = None if file is None else os.fspath(file)
        self.position = position
        self.hint = hint
        super().__init__(what)

    def __str__(self) -> str:
        """Return what happened, where, and the next step."""
        text = self.what
        if self.file is not None:
            text += f" in {self.file}"
        if self.position is not None:
            text += f" at byte {self.position:,}"
        return f"{text}. {self.hint}" if self.hint else f"{text}."

    def __reduce__(self) -> tuple[object, ...]:
        """Keep every field when the error crosses a process boundary."""
        return (_rebuild, (type(self), self.what, self.file, self.position, self.hint))


def _rebuild(kind: type[ProfileError], what: str, file: str | None, position: int | None, hint: str) -> ProfileError:
    return kind(what, file=file, position=position, hint=hint)


class NotFoundError(ProfileError):
    """No profile at that path."""


class NotAProfileError(ProfileError):
    """The file is of another kind."""


class DamagedFileError(ProfileError):
    """The file began as a profile but its bytes are not a complete, well-formed one."""


class UsageError(ProfileError):
    """The question itself is malformed: an unknown name or a value out of bounds."""


class CaptureError(ProfileError):
    """A capture could not start, stop or be saved."""


class UnreachableError(CaptureError):
    """No profiler server answers at that address."""


class ProfilerBusyError(CaptureError):
    """The process's only profiler session belongs to somebody else."""
