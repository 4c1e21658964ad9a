"""Device memory as a person sees it: `memory_snapshot`, `explain_oom`, and what ``%%xprof --memory`` shows."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from xprof_nb.capture import memory_watch, oom, oom_advice
from xprof_nb.capture.holders import chain, last_error
from xprof_nb.capture.memory_report import MemoryReport
from xprof_nb.errors import CaptureError, UsageError
from xprof_nb.model import units

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd

    from xprof_nb.capture.memory_report import LiveArray
    from xprof_nb.capture.oom import Failure
    from xprof_nb.views.fallback import Table

_HOLDERS_SHOWN = 2


def memory_snapshot() -> Memory:
    """Return what is in device memory now: by device, the largest arrays and who holds them, and programs' plans.

    Raises
    ------
    CaptureError
        jax is not installed.

    Examples
    --------
    >>> xp.memory_snapshot().frame  # doctest: +SKIP
    """
    return Memory(memory_watch.look())


def explain_oom(error: BaseException | str | None = None) -> OutOfMemory:
    """Explain why memory ran out: what was asked for, what was held and by whom, what to free or change.

    Parameters
    ----------
    error
        The error or its text; the last one shown if None.

    Raises
    ------
    UsageError
        No error was given, and none has been shown.
    """
    if error is None:
        error = last_error()
        if error is None:
            raise UsageError(
                "there is no error to explain", hint="Call it after one was shown, or give it the error or its text."
            )
    failure = _read(error)
    try:
        report = memory_watch.look()
    except CaptureError as absent:
        return OutOfMemory(failure, MemoryReport((), (), (), (str(absent),)))
    return OutOfMemory(failure, report)


def of_capture(report: MemoryReport | None) -> Memory:
    """Return what a capture saw; raises CaptureError if there is nothing."""
    if report is None:
        raise CaptureError(
            "this capture has not seen device memory", hint="Capture with `memory=True`, and wait for its end."
        )
    return MemoryOfCapture(report)


def _read(error: BaseException | str) -> Failure:
    """Return what the error says, or the one of its causes that is about memory."""
    texts = [error] if isinstance(error, str) else [_words(link) for link in chain(error)]
    failures = [oom.read(text) for text in texts]
    return next((failure for failure in failures if failure.is_memory), failures[0])


def _words(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # an error that cannot even say itself
        return type(error).__name__


class Memory:
    """What was seen of device memory; shows itself as tables.

    Attributes
    ----------
    report
        The numbers as objects.
    """

    heading = "device memory"

    def __init__(self, report: MemoryReport) -> None:
        self.report = report

    @property
    def frame(self) -> pd.DataFrame:
        """The largest arrays: ``held_by, dtype, shape, sharding, size_bytes``."""
        return _frame(self.report.arrays, ("held_by", "dtype", "shape", "sharding", "size_bytes"))

    @property
    def devices(self) -> pd.DataFrame:
        """The devices: ``device, measured_by, before_bytes, peak_bytes, after_bytes, limit_bytes``, <NA> if unknown."""
        names = ("device", "measured_by", "before_bytes", "peak_bytes", "after_bytes", "limit_bytes")
        frame = _frame(self.report.devices, names)
        return frame.astype(dict.fromkeys(names[2:], "Int64"))

    @property
    def programs(self) -> pd.DataFrame:
        """The compiled programs' plans, in bytes on each device."""
        names = ("program", "argument_bytes", "output_bytes", "alias_bytes", "temporary_bytes", "code_bytes")
        return _frame(self.report.programs, names)

    @property
    def summary(self) -> dict[str, Any]:
        """The headline values."""
        return {"sentence": self._sentence(), "after_bytes": sum(item.after_bytes for item in self.report.devices)}

    @property
    def notes(self) -> tuple[str, ...]:
        """What is missing or counted otherwise, and why."""
        if self.report.devices and not self.report.arrays:
            return (*self.report.notes, "No array is alive that was not there before.")
        return self.report.notes

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain JSON-able values; missing is None."""
        return {**asdict(self.report), "summary": self.summary, "notes": list(self.notes)}

    def _sentence(self) -> str:
        devices = self.report.devices
        if not devices:
            return ""
        total = units.size(sum(device.after_bytes for device in devices))
        top = self.report.arrays[:1]
        largest = f"; largest: {_holder(top[0])}, {units.size(top[0].size_bytes)}" if top else ""
        return f"{total} held on {len(devices)} device{'s' * (len(devices) > 1)}{largest}"

    def _tables(self) -> Iterable[Table]:
        yield self._device_table()
        if self.report.arrays:
            rows = [
                (_holder(array), array.dtype, _shape(array), array.sharding, units.size(array.size_bytes))
                for array in self.report.arrays
            ]
            yield _table("largest live arrays", ("held by", "dtype", "shape", "sharding", "size"), rows, words=4)
        if self.report.programs:
            programs = [
                (
                    program.program,
                    *map(units.size, (program.argument_bytes, program.output_bytes, program.alias_bytes)),
                    *map(units.size, (program.temporary_bytes, program.code_bytes, program.needed_bytes)),
                )
                for program in self.report.programs
            ]
            heads = ("program", "arguments", "outputs", "shared", "temporaries", "code", "needed")
            yield _table("what compiled programs were planned to need on each device", heads, programs, words=1)

    def _device_table(self) -> Table:
        rows = [
            (
                device.device,
                *map(units.size, (device.before_bytes, device.peak_bytes, device.after_bytes)),
                ("+" if (device.kept_bytes or 0) > 0 else "") + units.size(device.kept_bytes),
                units.size(device.limit_bytes),
            )
            for device in self.report.devices
        ]
        heads = ("device", "before", "peak", "after", "kept", "limit")
        return _table(self.heading, heads, rows, words=1, sentence=self._sentence())

    def __repr__(self) -> str:
        from xprof_nb.views import fallback

        return "\n\n".join([*map(fallback.plain, self._tables()), *(f"note: {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        from xprof_nb.views import fallback

        return "\n".join([*map(fallback.html, self._tables()), fallback.html_list(self.notes)])


class MemoryOfCapture(Memory):
    """What a `MemoryWatch` saw during a capture."""

    heading = "device memory during this capture"


class MemoryOfCell(Memory):
    """What a `MemoryWatch` saw of a cell."""

    heading = "device memory of this cell"


class OutOfMemory(Memory):
    """Why memory ran out, and what to do.

    Attributes
    ----------
    failure
        What was read of the error.
    """

    heading = "what is held now"

    def __init__(self, failure: Failure, report: MemoryReport) -> None:
        super().__init__(report)
        self.failure = failure

    @property
    def advice(self) -> tuple[str, ...]:
        """What to free or change, the nearest at hand first."""
        return tuple(oom_advice.advice(self.failure, self.report)) if self.failure.is_memory else ()

    @property
    def largest(self) -> pd.DataFrame:
        """The largest allocations of the program, if the error lists them."""
        names = ("size_bytes", "unpadded_bytes", "shape", "op", "source", "label", "kind")
        return _frame(self.failure.largest, names).astype({"size_bytes": "Int64", "unpadded_bytes": "Int64"})

    @property
    def summary(self) -> dict[str, Any]:
        """What was asked for and what there was, None where the error does not say."""
        said = asdict(self.failure)
        names = ("asked_bytes", "free_bytes", "contiguous_bytes", "used_bytes", "limit_bytes", "space", "parts")
        return {
            "sentence": self._sentence(),
            **{name: said[name] for name in names},
            "missing_bytes": oom_advice.missing_bytes(self.failure),
        }

    @property
    def notes(self) -> tuple[str, ...]:
        """What could not be read."""
        failure = self.failure
        if not failure.is_memory:
            unread: tuple[str, ...] = (
                f"This does not read as an out-of-memory error of XLA: {failure.text!r}. Below is what is held now.",
            )
        elif failure.asked_bytes is None and failure.used_bytes is None:
            unread = (f"How much was asked for could not be read of {failure.text!r}.",)
        else:
            unread = ()
        return (*unread, *super().notes)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain JSON-able values; missing is None."""
        return {**super().to_dict(), "failure": asdict(self.failure), "advice": list(self.advice)}

    def _sentence(self) -> str:
        failure = self.failure
        where = f" of {failure.space}" if failure.space else ""
        if failure.used_bytes is not None and failure.limit_bytes is not None:
            over = units.size(max(failure.used_bytes - failure.limit_bytes, 0))
            return (
                f"Out of memory: {units.size(failure.used_bytes)} wanted, {units.size(failure.limit_bytes)}{where} "
                f"there are: {over} too much"
            )
        if failure.asked_bytes is None:
            return "Out of memory" if failure.is_memory else ""
        free = f" with {units.size(failure.free_bytes)}{where} free" if failure.free_bytes is not None else where
        return f"Out of memory: {units.size(failure.asked_bytes)} asked for{free}"

    def _tables(self) -> Iterable[Table]:
        if self.failure.largest:
            rows = [
                (item.label or item.kind or item.op, item.shape, item.op, item.source, units.size(item.size_bytes))
                for item in self.failure.largest
            ]
            yield _table("largest allocations of the program", ("allocation", "shape", "op", "source", "size"), rows, 4)
        yield from super()._tables()

    def __repr__(self) -> str:
        return "\n".join([self._sentence(), *(f"-> {one}" for one in self.advice), super().__repr__()])

    def _device_table(self) -> Table:
        return replace(super()._device_table(), sentence="")  # it stands above the advice

    def _repr_html_(self) -> str:
        from xprof_nb.views import fallback

        return f"{fallback.html_sentence(self._sentence())}{fallback.html_list(self.advice)}\n{super()._repr_html_()}"


def _frame(items: Iterable[Any], names: Sequence[str]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame([[getattr(item, name) for name in names] for item in items], columns=list(names))


def _table(caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]], words: int, sentence: str = "") -> Table:
    """Return a table whose first so many columns are words; what programs are called is made harmless."""
    from xprof_nb.views.fallback import Table
    from xprof_nb.views.layouts import Column, one_line

    columns = tuple(
        Column(head, tuple(one_line(row[at]) for row in rows), is_text=at < words) for at, head in enumerate(heads)
    )
    return Table(caption, sentence, columns, (0,) * len(rows), ())


def _holder(array: LiveArray) -> str:
    shown = ", ".join(array.held_by[:_HOLDERS_SHOWN])
    more = len(array.held_by) - _HOLDERS_SHOWN
    return f"{shown} and {more} more" if more > 0 else shown or "nobody that could be found"


def _shape(array: LiveArray) -> str:
    return f"[{', '.join(map(str, array.shape))}]"
