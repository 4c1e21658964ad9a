"""What a person holds: `open` gives a `Profile`, its methods give `Result` objects that show themselves."""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import Executor
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from xprof_nb import queries
from xprof_nb.errors import UsageError
from xprof_nb.model.chosen import chosen
from xprof_nb.model.device import Device
from xprof_nb.model.grouping import By
from xprof_nb.model.profile import ProfileData
from xprof_nb.model.program import Program
from xprof_nb.result import Explorer, Graph, Result, result_of

__all__ = ["Explorer", "Graph", "Profile", "Result", "compare", "hardware", "open", "runs", "sql_schema"]

if TYPE_CHECKING:
    import pandas as pd

    from xprof_nb.trace import Trace


_LATER = {
    "capture": "xprof_nb.capture.local",
    "capture_for": "xprof_nb.capture.background",
    "capture_from": "xprof_nb.capture.remote_job",
    "capture_tensorflow": "xprof_nb.capture.frameworks",
    "capture_torch_xla": "xprof_nb.capture.frameworks",
}


def __getattr__(name: str) -> Any:
    """Load the capture functions on first use: reading profiles needs no jax."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_LATER[name]), name)


def open(path: str | os.PathLike[str], executor: Executor | None = None) -> Profile:  # noqa: A001
    """Open a profile.

    Parameters
    ----------
    path
        A run folder, whose hosts are joined, or a log dir, of which the newest run is taken; a ``*.xplane.pb``
        or ``*.trace.json.gz`` file means itself alone. Also ``gs://…``.
    executor
        Decodes the hosts of a large run in parallel; any `concurrent.futures.Executor`.

    Raises
    ------
    ProfileError
        There is no profile, or it is damaged; the message says what to do.
    """
    from xprof_nb.runs.opening import open_data

    if not isinstance(path, str | os.PathLike):
        raise UsageError(f"a path cannot be {path!r}", hint="Give a file, a run folder or a log dir.")
    return Profile(open_data(path, executor))


def runs(logdir: str | os.PathLike[str] | None = None) -> pd.DataFrame:
    """Return the runs found under a log dir, newest first.

    Parameters
    ----------
    logdir
        ``$XPROF_NB_LOGDIR`` or ``xprof-logs`` here if None.

    Returns
    -------
    DataFrame
        ``run, path, started, duration_s, host_count, bytes, origin, device, note, tags``.
    """
    from xprof_nb.runs.catalog import runs as list_runs

    return list_runs(logdir)


def hardware(name: str | None = None, **peaks: float | None) -> pd.DataFrame:
    """Return the known peaks of devices, one row a model, each with its source; or state your own.

    Parameters
    ----------
    name
        A device's name as its runtime gives it: only the row of that very model.
    **peaks
        Your own roofs of that model: ``bf16_flops=``, ``f32_flops=`` … (FLOP/s), ``hbm_bytes_per_s=``,
        ``link_bytes_per_s=``, ``capacity_bytes=``. They win over the table and over what profiles state, for every
        question asked afterwards in this process; None takes one back.

    Raises
    ------
    UsageError
        No entry is that model, or a peak is not a positive number.
    """
    from xprof_nb.model import hardware as table
    from xprof_nb.model import roofs

    if peaks:
        roofs.state(name or "", peaks)
    if name is None:
        return table.as_frame(roofs.known())
    found = roofs.find(name)
    if found is None and not peaks:
        raise UsageError(
            f"the peaks of {name!r} are not known",
            hint="xp.hardware() lists the models; xp.hardware(name, bf16_flops=…, hbm_bytes_per_s=…) states your own, "
            "as does a TOML file named by $XPROF_NB_HARDWARE.",
        )
    return table.as_frame([found] if found is not None else [])


def compare(a: Profile | str | os.PathLike[str], b: Profile | str | os.PathLike[str], **filters: Any) -> Result:
    """Return what became faster or slower from one profile to another: op by op, adding up to the whole difference.

    Parameters
    ----------
    a, b
        Profiles, or their paths, before and after.
    **filters
        Those of `Profile.ops`, applied to both.

    Raises
    ------
    ProfileError
        One of them cannot be opened, or has not what was chosen.
    """
    return (a if isinstance(a, Profile) else open(a)).compare(b, **filters)


def sql_schema() -> pd.DataFrame:
    """Return the tables `Profile.sql` knows: ``table, column, type, unit, meaning``."""
    return queries.sql_schema()


class Profile:
    """One opened profile. Every method answers a question; all take the filters of `Profile.ops`."""

    def __init__(self, data: ProfileData) -> None:
        self.data = data

    @property
    def name(self) -> str:
        """Name of the run."""
        return self.data.name

    @property
    def path(self) -> str:
        """Where it was opened from."""
        return self.data.path

    @property
    def origin(self) -> str:
        """``captured``, ``opened`` or ``forecast``."""
        return self.data.origin

    @property
    def hosts(self) -> tuple[str, ...]:
        """Names of the hosts."""
        return tuple(trace.host for trace in self.data.hosts)

    @property
    def devices(self) -> tuple[Device, ...]:
        """Devices of all hosts, with their peaks."""
        return self.data.devices

    @property
    def notes(self) -> tuple[str, ...]:
        """What was joined, left out or is missing, and what each host's file says of itself."""
        return self.data.all_notes

    @property
    def programs(self) -> Mapping[int, Program]:
        """XLA programs by program id."""
        return self.data.programs

    @property
    def selection(self) -> dict[str, Any]:
        """What was chosen last in a live view of this profile: ``op, program_id, step, host, device, window_ps``."""
        return chosen(self.data)

    def ops(self, **filters: Any) -> Result:
        """Return time, work and utilisation of every op.

        Parameters
        ----------
        **filters
            ``host=``, ``device=``, ``program=``, ``step=``, ``window_ps=`` narrow the question;
            ``compat="xprof"`` gives xprof's own numbers.
        """
        return self.ask("ops", **filters)

    def op_profile(self, by: By = "program", **filters: Any) -> Result:
        """Return where the time went as a tree, grouped by program, category, framework or source."""
        return self.ask("op_profile", by=by, **filters)

    def overview(self, **filters: Any) -> Result:
        """Return the headline values: step time, utilisation, idle time, what bounds the program."""
        return self.ask("overview", **filters)

    def steps(self, **filters: Any) -> Result:
        """Return marked steps, or steps inferred from a program that runs again and again."""
        return self.ask("steps", **filters)

    def kpis(self, **told: Any) -> Result:
        """Return the key figures of training: step time, throughput, MFU, HFU, bandwidth, peak memory.

        Parameters
        ----------
        **told
            ``tokens_per_step=``, ``items_per_step=`` and ``parameters=`` say what a profile cannot know; with tokens
            and parameters the model's FLOPs are 6·N·D. Also the filters of `ops`.
        """
        return self.ask("kpis", **told)

    def compare(self, other: Profile | str | os.PathLike[str], **filters: Any) -> Result:
        """Return what became faster or slower from this profile to another; see `compare`."""
        after = other if isinstance(other, Profile) else open(other)
        given = {name: value for name, value in filters.items() if value is not None}
        answer = queries.ask(self.data, "compare", {**given, "other": after.data})
        return result_of("compare")(answer, "compare", {**given, "other": after.path}, self)

    def framework_ops(self, **filters: Any) -> Result:
        """Return time and work by framework op, and by named scope as a tree."""
        return self.ask("framework_ops", **filters)

    def kernels(self, **filters: Any) -> Result:
        """Return time, launch shape and occupancy of every GPU kernel."""
        return self.ask("kernels", **filters)

    def input_pipeline(self, **filters: Any) -> Result:
        """Return what each step waited for: input, transfers, compilation, launches."""
        return self.ask("input_pipeline", **filters)

    def collectives(self, **filters: Any) -> Result:
        """Return bytes, bandwidth and exposed time of collectives and asynchronous copies."""
        return self.ask("collectives", **filters)

    def memory(self, **filters: Any) -> Result:
        """Return the allocator's memory over time, its peak, and who held it."""
        return self.ask("memory", **filters)

    def buffers(self, program: str | int | None = None, **filters: Any) -> Result:
        """Return the buffers of a compiled program, largest first, and live bytes over program order."""
        return self.ask("buffers", program=program, **filters)

    def graph(self, program: str | int | None = None, op: str | None = None, **filters: Any) -> Graph:
        """Return the neighbourhood of an op in its program; ``radius=`` says how many edges around it."""
        return cast("Graph", self.ask("graph", program=program, op=op, **filters))

    def roofline(self, **filters: Any) -> Result:
        """Return program, steps and ops against the roofs of every memory level and element type."""
        return self.ask("roofline", **filters)

    def events(self, pattern: str | None = None, **filters: Any) -> Result:
        """Return every event whose name matches a regular expression, all of them if None.

        Parameters
        ----------
        pattern
            As Python's ``re``, without back references and look-around.
        **filters
            Those of `ops`; ``min_python_ps=`` leaves out shorter calls of the Python tracer, ``limit=`` lists the
            first so many.
        """
        return self.ask("events", pattern=pattern, **filters)

    def sql(self, text: str = "", **options: Any) -> Result:
        """Answer a SELECT statement over the tables of all hosts; without one, return their schema.

        Parameters
        ----------
        text
            DuckDB's SQL. Tables: ``events, ops, op_events, steps, runs, instructions, buffers, allocations, kernels,
            devices, programs``. Nothing else can be read, nothing written.
        **options
            The filters of `ops` narrow the tables; ``limit=`` rows (100,000) and ``seconds=`` (30) bound the answer.

        Raises
        ------
        UsageError
            It is not one SELECT statement, or asks for what is not there.
        ProfileError
            It takes longer, or more memory, than it may.
        """
        return self.ask("sql", text=text, **options)

    def trace(self, **filters: Any) -> Trace:
        """Return the timeline: every track, and what is drawn of any window of it.

        Parameters
        ----------
        **filters
            ``host=`` and ``device=`` leave their tracks; ``step=``, ``window_ps=``, or ``start_ps=`` and ``end_ps=``
            in ps from the beginning of the timeline, say what the view shows first.
        """
        return cast("Trace", self.ask("trace", **filters))

    def explore(self, **filters: Any) -> Explorer:
        """Return all views of the profile as tabs, with what to narrow them to."""
        given = {name: value for name, value in filters.items() if value is not None}
        return Explorer(queries.ask(self.data, "overview", given), "overview", given, self)

    def to_html(self, path: str | os.PathLike[str]) -> Path:
        """Write one self-contained page with all views: it needs neither network nor kernel."""
        return self.explore().to_html(path)

    def ask(self, query: str, /, **params: Any) -> Result:
        """Ask a registered question by name."""
        given = {name: value for name, value in params.items() if value is not None}
        return result_of(query)(queries.ask(self.data, query, given), query, given, self)

    def __repr__(self) -> str:
        devices = ", ".join(device.name for device in self.devices[:4])
        more = f" and {len(self.devices) - 4} more" if len(self.devices) > 4 else ""
        return f"<Profile {self.name!r}: {len(self.hosts)} host(s), {devices or 'no device'}{more}>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Any:
        return self.explore()._repr_mimebundle_(include, exclude)
