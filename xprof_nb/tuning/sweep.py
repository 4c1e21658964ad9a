"""``xp.sweep``: measure a step at many settings, and say which to use."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xprof_nb.capture import calibrate
from xprof_nb.errors import NotFoundError, ProfileError, UsageError
from xprof_nb.model.units import counted, listed
from xprof_nb.runs.layout import default_logdir
from xprof_nb.runs.places import is_url
from xprof_nb.tuning import sentences, shown
from xprof_nb.tuning.advice import Advice, advise
from xprof_nb.tuning.fitting import RESERVE
from xprof_nb.tuning.grid import BATCH, Setting, Value, settings, sizes
from xprof_nb.tuning.isolated import Isolated
from xprof_nb.tuning.live import Live
from xprof_nb.tuning.measure import Measurement, memory_limit
from xprof_nb.tuning.order import Doubling, Fixed, Order
from xprof_nb.tuning.point import DONE, Point
from xprof_nb.tuning.runner import Measures, Runner
from xprof_nb.tuning.store import Store, definition_of, names, opened, store

if TYPE_CHECKING:
    import pandas as pd

    from xprof_nb.api import Profile

MakeStep = Callable[..., Callable[[], Any]]
COLUMNS = (
    "status",
    "step_time_s",
    "step_time_spread_s",
    "step_count",
    "items_per_s",
    "flops_utilization",
    "hbm_utilization",
    "flops_per_s",
    "arithmetic_intensity",
    "exposed_communication_fraction",
    "bound_by",
    "peak_bytes",
    "planned_bytes",
    "limit_bytes",
    "compile_time_s",
    "run",
    "note",
)


def sweep(
    make_step: MakeStep,
    batch_sizes: Iterable[int] | str | None = None,
    *,
    parameters: Mapping[str, Iterable[Value]] | None = None,
    steps: int = 20,
    warm_up: int = 2,
    profile: bool = True,
    profile_steps: int = 3,
    items: Callable[..., float] | None = None,
    name: str | None = None,
    logdir: str | os.PathLike[str] | None = None,
    memory_limit_bytes: float | None = None,
    reserve: float = RESERVE,
    most_runs: int | None = None,
    isolated: bool = False,
    verify: bool = False,
    fresh: bool = False,
) -> Sweep:
    """Measure a step at many settings: time, throughput, utilisation, memory, and what follows.

    What was measured is kept in the log dir after each setting. An interrupted sweep that is started again goes on
    where it was; one whose code, way of measuring, jax or device has changed begins anew. `open_sweep` returns what was
    kept.

    Parameters
    ----------
    make_step
        ``make_step(batch_size)``, or with ``parameters`` ``make_step(**setting)``: returns a callable of no argument
        that runs one step and returns the arrays to wait for.
    batch_sizes
        Sizes, or ``"auto"``: 1, 2, 4 … as long as it helps and fits, then sizes around the best.
    parameters
        Instead: names and their values; every combination is measured. Along the first that has numbers, time and
        memory are fitted.
    steps, warm_up
        How many steps are timed without the profiler, and how many run before.
    profile, profile_steps
        Whether a few steps are profiled then, and how many. Each profile is a run of its own (origin ``sweep``).
    items
        Called like ``make_step``, returns how many items (samples, tokens) a step works on; the batch size if None.
    name
        Of the sweep, and the beginning of the names of its runs; by default that of ``make_step``.
    memory_limit_bytes
        Memory of a device, where the runtime does not say or less is to be used.
    reserve
        Share of memory to leave free.
    most_runs
        Run only so many settings, spread over those whose plan fits, and predict the others.
    isolated
        Measure each setting in a process of its own: what is left of one cannot disturb the next. What ``make_step``
        needs goes along, arrays included.
    verify
        Measure the advised next size too.
    fresh
        Measure again what was measured before: of the code, only that of ``make_step`` itself is compared.

    Returns
    -------
    Sweep
        Its ``.frame`` has a row for each setting, ``.recommended`` is the one to use.

    Raises
    ------
    UsageError
        The settings are malformed.
    ProfileError
        What was measured cannot be kept.

    Examples
    --------
    >>> def make_step(batch_size):  # doctest: +SKIP
    ...     batch = jnp.ones((batch_size, 1024))
    ...     return lambda: train_step(state, batch)
    >>> xp.sweep(make_step, [1, 2, 4, 8, 16]).recommended  # doctest: +SKIP
    """
    order, axis = _order(batch_sizes, parameters)
    named = name or getattr(make_step, "__name__", "sweep").strip("<>") or "sweep"
    folder = _logdir(logdir)
    by_name = parameters is not None

    def call(function: Callable[..., Any], setting: Setting) -> Any:
        return function(**setting) if by_name else function(setting[BATCH])

    def count(setting: Setting) -> float | None:
        if items is not None:
            return float(call(items, setting))
        value = setting.get(BATCH, setting.get("batch"))
        return float(value) if isinstance(value, int | float) else None

    measurement = Measurement(
        make_step=lambda setting: call(make_step, setting),
        items=count,
        steps=_at_least(steps, 1, "steps"),
        warm_up=_at_least(warm_up, 1, "warm_up"),
        profile_steps=_at_least(profile_steps, 1, "profile_steps") if profile else 0,
        logdir=folder,
        name=named,
    )
    defined = definition_of(make_step, steps=steps, warm_up=warm_up, profile=measurement.profile_steps, **_where())
    kept = store(folder, named, defined, axis)
    if profile:
        calibrate.ensure_where_jax_runs()  # without roofs no profile says what bounds a step
    measures: Measures = Isolated(measurement) if isolated else measurement
    limit = memory_limit_bytes if memory_limit_bytes is not None else memory_limit()
    return conduct(measures, order, axis, kept, limit, reserve, most_runs, verify=verify, fresh=fresh)


def open_sweep(name: str, logdir: str | os.PathLike[str] | None = None, reserve: float = RESERVE) -> Sweep:
    """Return a sweep that was measured earlier, as far as it came.

    Parameters
    ----------
    name, logdir, reserve
        As `sweep` took them.

    Raises
    ------
    NotFoundError
        There is none of that name; says which there are.
    DamagedFileError
        Its file is none of a sweep.
    """
    folder = _logdir(logdir)
    wanted = store(folder, name, {}).path
    try:
        found, points = opened(wanted)
    except OSError as missing:
        known = listed(names(folder)) or "none yet"
        raise NotFoundError(f"no sweep {name!r} in {folder}", hint=f"Its sweeps: {known}.") from missing
    return Sweep(points, found.axis, reserve)


def conduct(
    measures: Measures,
    order: Order,
    axis: str | None,
    kept: Store | None,
    limit_bytes: float | None,
    reserve: float = RESERVE,
    most_runs: int | None = None,
    *,
    verify: bool = False,
    fresh: bool = False,
) -> Sweep:
    """Go through an order of settings, showing what is known meanwhile; see `sweep`."""
    live = Live(lambda points: Sweep(points, axis, reserve))
    runner = Runner(measures, kept, axis, limit_bytes, live.show, fresh=fresh)
    with live:
        if most_runs is None:
            runner.run(order)
        else:
            runner.run_few(list(order.settings(())), most_runs)
        result = Sweep(runner.points, axis, reserve)
        following = result.advice.next_size
        if verify and axis is not None and following is not None and len(runner.points[0].setting) == 1:
            runner.run(Fixed([{axis: following}]))
            result = Sweep(runner.points, axis, reserve)
    return Sweep(result.points, axis, reserve, runner.earlier)


class Sweep:
    """What a sweep measured, and what follows from it.

    Attributes
    ----------
    points
        One for each setting.
    axis
        The parameter along which time and memory are fitted, None if none is a number.
    earlier
        How many of the points an earlier sweep measured.
    """

    def __init__(self, points: Sequence[Point], axis: str | None, reserve: float = RESERVE, earlier: int = 0) -> None:
        self.points = tuple(points)
        self.axis = axis
        self.reserve = reserve
        self.earlier = earlier

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row a setting: its parameters, then ``status, step_time_s, items_per_s, …``; missing is NaN."""
        import pandas as pd

        rows = [{**point.setting, **{name: getattr(point, name) for name in COLUMNS}} for point in self.points]
        names = list(dict.fromkeys(name for point in self.points for name in point.setting))
        frame = pd.DataFrame(rows, columns=[*names, *COLUMNS])
        numbers = [name for name in COLUMNS if name not in ("status", "bound_by", "run", "note", "step_count")]
        return frame.astype(dict.fromkeys(numbers, "float64"))

    @cached_property
    def advice(self) -> Advice:
        """What the points say along the axis; with several parameters, of the group with the highest throughput."""
        return advise(self.best_group, self.axis, self.reserve) if self.axis is not None else Advice()

    @property
    def recommended(self) -> Any:
        """The batch size to use; with other parameters, the setting as a dict; None if nothing was measured."""
        best = self.best
        if best is None:
            return None
        return best.setting[BATCH] if set(best.setting) == {BATCH} else best.setting

    @property
    def best(self) -> Point | None:
        """The point of `recommended`."""
        done = [point for point in self.best_group if point.status == DONE]
        if self.axis is None:
            return max(done, key=_rate, default=None)
        return next((point for point in done if point.setting[self.axis] == self.advice.recommended), None)

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The headline values."""
        advised = self.advice
        axis = self.axis or ""
        said = sentences.sentence(advised, self.best_group, axis) if self.axis is not None else _without_axis(self.best)
        return {
            "sentence": said,
            "recommended": self.recommended,
            "knee": advised.knee,
            "largest_that_fits": advised.largest,
            "next_size": advised.next_size,
            "fixed_time_s": advised.step_law.fixed if advised.step_law is not None else None,
            "time_per_item_s": advised.step_law.per_item if advised.step_law is not None else None,
            "fixed_kinds": list(advised.fixed_kinds),
        }

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What follows, with its uncertainty, and what could not be measured."""
        said = sentences.remarks(self.advice, self.best_group, self.axis, self.reserve) if self.axis is not None else ()
        failed = (f"{point.setting}: {point.status}, {point.note}" for point in self.points if point.note)
        return (*said, *self._of_earlier(), *failed)

    def _of_earlier(self) -> Iterator[str]:
        if self.earlier:
            yield (
                f"{counted(self.earlier, 'setting')} measured earlier and not again: make_step, jax and device are the "
                "same. Where code that it calls has changed, fresh=True measures anew."
            )

    def profile(self, **setting: Value) -> Profile:
        """Return the profile of a setting: ``sweep.profile(batch_size=8).op_profile()``.

        Raises
        ------
        ProfileError
            There is none.
        """
        from xprof_nb.api import open as open_run

        for point in self.points:
            if point.run is not None and setting.items() <= point.setting.items():
                return open_run(point.run)
        raise ProfileError(f"no profile of {setting} was kept", hint="frame[['run']] says which were.")

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        points = [{**point.to_json(), "items_per_s": point.items_per_s} for point in self.points]
        return {"points": points, "summary": self.summary, "notes": list(self.notes)}

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the frame."""
        self.frame.to_csv(path, index=False)

    def __repr__(self) -> str:
        return shown.plain(self)

    def _repr_html_(self) -> str:
        return shown.html(self)

    @cached_property
    def best_group(self) -> list[Point]:
        """The points that differ from the fastest one in nothing but the axis."""
        fastest = max((point for point in self.points if point.status == DONE), key=_rate, default=None)
        if fastest is None or self.axis is None:
            return list(self.points)
        rest = {name: value for name, value in fastest.setting.items() if name != self.axis}
        return [point for point in self.points if rest.items() <= point.setting.items()]


def _rate(point: Point) -> float:
    return point.items_per_s or 1 / (point.step_time_s or float("inf"))


def _without_axis(best: Point | None) -> str:
    if best is None:
        return "Nothing was measured."
    return f"Fastest: {', '.join(f'{name} {value}' for name, value in best.setting.items())}."


def _order(
    batch_sizes: Iterable[int] | str | None, parameters: Mapping[str, Iterable[Value]] | None
) -> tuple[Order, str | None]:
    if (batch_sizes is None) == (parameters is None):
        raise UsageError("a sweep of what?", hint="Give either batch_sizes=[1, 2, 4] or parameters={name: values}.")
    if parameters is not None:
        listed = settings(parameters)
        numeric = (
            name
            for name in listed[0]
            if all(isinstance(each[name], int | float) and not isinstance(each[name], bool) for each in listed)
        )
        return Fixed(listed), next(numeric, None)
    if isinstance(batch_sizes, str):
        if batch_sizes != "auto":
            raise UsageError(f"batch_sizes = {batch_sizes!r}", hint="Give a list of sizes, or 'auto'.")
        return Doubling(), BATCH
    return Fixed(sizes(batch_sizes or ())), BATCH


def _logdir(logdir: str | os.PathLike[str] | None) -> Path:
    where = default_logdir() if logdir is None else os.fspath(logdir)
    if is_url(where):
        raise UsageError(f"a sweep cannot be kept in {where}", hint="Give a folder of this machine as logdir=.")
    return Path(where).expanduser().absolute()


def _where() -> dict[str, str]:
    import jax

    devices = jax.devices()
    return {"jax": jax.__version__, "devices": f"{len(devices)} × {devices[0].device_kind}"}


def _at_least(value: int, least: int, name: str) -> int:
    if not isinstance(value, int) or value < least:
        raise UsageError(f"{name} = {value!r}", hint=f"Give a whole number of at least {least}.")
    return value
