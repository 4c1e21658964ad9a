"""``%xprof``, ``%%xprof`` and ``%%xprof_mem``."""
# ruff: noqa: T201 - what a magic prints is the output of its cell

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from IPython.core import error as ipython_error
from IPython.core.magic import Magics, cell_magic, line_magic, magics_class, no_var_expand
from IPython.display import display

from xprof_nb import args, doctor, verbs, verbs_remote, verbs_runs
from xprof_nb.capture import calibrate, jobs
from xprof_nb.capture.local import Capture
from xprof_nb.capture.memory_watch import MemoryWatch
from xprof_nb.errors import CaptureError, ProfileError, UsageError
from xprof_nb.formats import warm
from xprof_nb.jupyter import capture_comm
from xprof_nb.jupyter.asking import request_of
from xprof_nb.jupyter.capture_widget import capture_widget
from xprof_nb.jupyter.cell_capture import BEGIN, CellCapture, begin_in_place
from xprof_nb.jupyter.cell_sweep import sweep_cell
from xprof_nb.jupyter.live_capture import LiveCapture
from xprof_nb.jupyter.live_remote import LiveRemote
from xprof_nb.jupyter.serving import serve
from xprof_nb.memory import MemoryOfCell

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xprof_nb.tuning.sweep import Sweep


def load(shell: Any) -> None:
    """Add the magics to an IPython shell; get the decoder and this machine's roofs ready meanwhile."""
    shell.register_magics(XprofMagics)
    if begin_in_place not in shell.input_transformers_cleanup:
        shell.input_transformers_cleanup.append(begin_in_place)
    capture_comm.listen(shell)
    warm.warm()
    # Once a machine, a few seconds: as a notebook begins is when it is least likely to be timing anything.
    threading.Thread(target=calibrate.ensure, name="xprof_nb calibrate", daemon=True).start()


def unload(shell: Any) -> None:
    """Take the magics away again."""
    capture_comm.fall_silent()
    if begin_in_place in shell.input_transformers_cleanup:
        shell.input_transformers_cleanup.remove(begin_in_place)
    for kind, names in (("line", ("xprof", BEGIN)), ("cell", ("xprof", "xprof_mem"))):
        for name in names:
            shell.magics_manager.magics[kind].pop(name, None)


@magics_class
class XprofMagics(Magics):  # type: ignore[misc]
    """Capture and read XLA profiles: ``%xprof --help``."""

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        self._live: LiveCapture | LiveRemote | None = None

    @line_magic  # type: ignore[untyped-decorator]
    def xprof(self, line: str) -> Any:
        """Capture and read XLA profiles: ``%xprof --help``."""
        try:
            with _told():
                return self._do(args.parse_magic(line))
        except args.HelpAsked as text:
            print(text)

    @no_var_expand  # type: ignore[untyped-decorator]
    @cell_magic("xprof")  # type: ignore[untyped-decorator]
    def xprof_cell(self, line: str, cell: str) -> Sweep | None:
        """Run a cell under the profiler, then show its op profile; or sweep it, see `cell_sweep`.

        Cells typed by a person are rewritten before they get here, see `begin_in_place`; this serves the others:
        ``run_cell_magic``, and ``%%xprof`` above another cell magic.
        """
        with _told():
            command = _of_cell(line)
            if isinstance(command, args.SweepCommand):
                return sweep_cell(self.shell, command, cell)
            capture = self._started(command)
        result = None
        try:
            result = self.shell.run_cell(cell)
        finally:
            capture.finish(result)
        return None

    @no_var_expand  # type: ignore[untyped-decorator]
    @cell_magic("xprof_mem")  # type: ignore[untyped-decorator]
    def xprof_memory_of_cell(self, line: str, cell: str) -> None:
        """Run a cell, then show the device memory it took: before, at its peak, after, and the arrays that hold it."""
        with _told():
            if line.strip():
                raise UsageError("%%xprof_mem takes nothing", hint="Write it alone in the first line of the cell.")
            watch = MemoryWatch()
        try:
            self.shell.run_cell(cell)
        finally:
            display(MemoryOfCell(watch.report(self.shell.user_ns)))

    @line_magic(BEGIN)  # type: ignore[untyped-decorator]
    def begin_cell(self, line: str) -> None:
        """Start profiling the rest of this cell: what ``%%xprof`` becomes."""
        with _told():
            command = _of_cell(line)
            if isinstance(command, args.SweepCommand):
                raise UsageError("a sweep is a cell of its own", hint="Write %%xprof sweep in its first line.")
            self._started(command)

    def _started(self, command: args.CaptureCommand) -> CellCapture:
        return CellCapture(self.shell, request_of(command))

    def _do(self, command: args.Command) -> Any:
        match command:
            case args.CaptureCommand() | args.RemoteCommand():
                self._live = self._begun(command)
                return None
            case args.PanelCommand():
                widget = capture_widget(self.shell)
                display(widget)
                return widget.say_where()
            case args.JobCommand():
                return self._manage(command)
            case args.ListCommand() | args.OpenCommand() | args.QueryCommand():
                return self._read(command)
            case args.DoctorCommand():
                report = doctor.examine()
                return report if command.format is None else print(report.to_text(command.format))
            case args.ServerCommand():
                text = serve(command)
            case _:
                text = verbs_runs.do(command)
        return print(text)

    def _begun(self, command: args.CaptureCommand | args.RemoteCommand) -> LiveCapture | LiveRemote:
        if isinstance(command, args.RemoteCommand):
            return LiveRemote(self.shell, verbs_remote.start(command))
        return LiveCapture(self.shell, request_of(command))

    def _read(self, command: args.ListCommand | args.OpenCommand | args.QueryCommand) -> Any:
        if isinstance(command, args.ListCommand):
            runs = verbs.list_runs(command)
            if command.format is not None:
                return print(verbs.runs_text(runs, command.format))
            for note in runs.attrs["notes"]:  # a frame does not show them
                print(note)
            return runs
        self._settle(command.run)
        if isinstance(command, args.OpenCommand):
            return verbs.open_run(command)
        result = verbs.ask(command)
        return result if verbs.answer_format(command) is None else print(verbs.write(result, command))

    def _manage(self, command: args.JobCommand) -> None:
        live = self._live
        if live is None or not live.under_way:
            self._manage_others(command)
        elif command.action == "wait":
            live.wait()
        elif command.action == "cancel":
            live.cancel()
        else:
            print(live.status)

    def _manage_others(self, command: args.JobCommand) -> None:
        """Do the same with a capture that code or the side panel started."""
        job, other = jobs.current(), Capture.running()
        if job is not None and command.action == "cancel":
            job.cancel()
        elif job is not None and command.action == "wait":
            job.wait()
        elif command.action == "cancel" and other is not None:
            print(f"saved {other.stop()}")
        elif command.action == "status":
            code = "No capture is under way." if other is None else f"A capture made in code is running: {other.name}"
            print(code if job is None else job.status.doing)
        elif command.action == "cancel" or self._live is None:
            raise CaptureError("no capture is under way", hint="Start one: %xprof capture 3s.")

    def _settle(self, run: str | None) -> None:
        """Wait for the capture under way if the newest run is wanted: it will be that one."""
        if run is None and self._live is not None and self._live.started and self._live.under_way:
            self._live.wait()


def _of_cell(line: str) -> args.CaptureCommand | args.SweepCommand:
    try:
        return args.parse_cell_magic(line)
    except args.HelpAsked as text:  # an error here: the cell must not run
        raise UsageError(str(text)) from None


@contextmanager
def _told() -> Iterator[None]:
    """Turn our errors into the kind IPython shows in one line, without a traceback."""
    try:
        yield
    except ProfileError as error:
        raise ipython_error.UsageError(str(error)) from None
