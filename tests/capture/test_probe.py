from __future__ import annotations

import pytest

import xprof_nb as xp
from tests.xspace_builder import SpaceBuilder
from xprof_nb.capture import stage
from xprof_nb.capture.options import PRESETS
from xprof_nb.capture.probe import Estimate, probe
from xprof_nb.formats.framing import count_events

GIB = 2**30


def test_events_are_counted_and_what_grows_is_told_from_what_does_not() -> None:
    space = SpaceBuilder()
    space.hlo({"jit_f(1)": b"x" * 5000})
    plane = space.plane("/device:TPU:0")
    for name in ("XLA Ops", "Steps"):
        line = plane.line(name)
        for number in range(100):
            line.event(f"op.{number % 3}", number * 1000, 500)
    data = space.to_bytes()
    event_count, line_bytes = count_events(data)
    assert event_count == 200
    assert line_bytes == sum(line.ByteSize() for plane in space.message.planes for line in plane.lines)
    estimate = Estimate.of(data, 0.2, stop_s=0.01)
    assert estimate.events_per_s == pytest.approx(1000)
    assert estimate.size_bytes(10) == pytest.approx(len(data) - line_bytes + line_bytes * 50)


def test_a_million_events_a_second_for_ten_seconds_is_said_before_it_is_recorded() -> None:
    estimate = Estimate(0, 250e6, 1e6, 2e-8)
    assert not estimate.fits(10)
    assert estimate.fits(6)
    assert estimate.longest_s() == pytest.approx(0.8 * 2 * GIB / 250e6)
    assert estimate.describe(10) == "about 2.33 GiB and 10\u2009000\u2009000 events in 10 s, and 50 s to collect them"


def test_a_probe_of_this_process_finds_what_runs(matmul) -> None:
    quiet = probe(PRESETS["full"])
    assert quiet.bytes_per_s < 1e6
    assert quiet.size_bytes(10) < 100e6


@pytest.fixture
def flood(monkeypatch):
    """Probes that find so much to record, one after the other."""

    def found(*rates: float) -> None:
        estimates = iter([Estimate(1000, rate, rate / 100, 1e-9) for rate in rates])
        monkeypatch.setattr(stage, "probe", lambda options: next(estimates))

    return found


def test_where_it_would_not_come_back_less_is_recorded(logdir, flood) -> None:
    flood(1 * GIB, 0.01 * GIB)
    job = xp.capture_for(6, "less", logdir)
    job.cancel()
    job.wait(60)
    assert job.status.options.startswith("light")
    assert any("preset light: it would have become about 6" in note for note in job.status.notes)


def test_what_somebody_chose_is_kept_and_the_time_is_cut(logdir, flood) -> None:
    flood(2 * GIB)
    job = xp.capture_for(6, "shorter", logdir, preset="python")
    job.wait(60)
    assert job.status.options.startswith("python")
    assert job.elapsed_s < 3  # 0.8 s of 2 GiB a second are what fits
    assert any("Recorded for 0.8 s" in note for note in job.status.notes)


def test_short_captures_are_not_probed(logdir, flood) -> None:
    flood()
    xp.capture_for(0.05, "short", logdir).wait(60)
