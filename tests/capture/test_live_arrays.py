"""Live arrays sampled while a capture runs, and what becomes of them in the profile."""

from __future__ import annotations

import json
import threading
import time
from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import xprof_nb as xp
from xprof_nb.capture import live_arrays
from xprof_nb.capture.live_arrays import MOST_STRETCHES, Sampler, alike, held_bytes

MIB = 2**20
SHAPE = (10, 1024, 1024)


def ten_by_mib() -> jax.Array:
    """Return 40 MiB of float32 that nothing else of these tests has the shape of."""
    return jnp.asarray(np.ones(SHAPE, np.float32)).block_until_ready()


@pytest.fixture
def captured(logdir):
    """A capture in which two arrays of 40 MiB live for a while, one after the other freed."""
    with xp.capture("arrays", logdir) as cap:
        first = ten_by_mib()
        time.sleep(0.1)
        second = ten_by_mib()
        time.sleep(0.2)
        del first, second
        time.sleep(0.1)
    return cap


def test_the_peak_is_that_of_what_was_allocated(captured) -> None:
    result = captured.profile.memory()
    (peak,) = result.summary["allocators"]
    before = result.frame["total_bytes"].iloc[0]
    assert 80 * MIB <= peak["peak_bytes"] - before < 81 * MIB
    assert set(result.frame["allocator"]) == {"live arrays (sampled)"}
    assert set(result.frame["kind"]) == {"sample"}
    assert result.frame["total_bytes"].iloc[-1] - before < MIB
    assert result.frame["total_bytes"].max() == peak["peak_bytes"]
    assert result.frame.loc[result.frame["total_bytes"].idxmax(), "start_ps"] == peak["peak_ps"]
    (ours,) = (row for row in peak["held"] if row["shape"] == "[10,1024,1024]")
    assert (ours["dtype"], ours["count"], ours["bytes"]) == ("float32", 2, 80 * MIB)
    assert "SingleDeviceSharding" in ours["sharding"]
    assert sum(row["bytes"] for row in peak["held"]) == peak["peak_bytes"]
    assert "live arrays (sampled)" in result.summary["sentence"]
    assert "sampled every" in result.notes[-1]
    assert "Temporaries of running programs are not in it" in result.notes[-1]


def test_samples_are_on_the_clock_of_the_profile(captured) -> None:
    """80 MiB were held for at least 200 ms, inside what the capture saw."""
    profile = captured.profile
    frame = profile.memory().frame
    begin, end = profile.data.hosts[0].window_ps
    assert frame["start_ps"].is_monotonic_increasing
    assert begin <= frame["start_ps"].iloc[0]
    assert frame["start_ps"].iloc[-1] <= end + 10**11
    full = frame[frame["total_bytes"] >= 80 * MIB]["start_ps"]
    assert 0.1e12 < full.max() - full.min() < end - begin


def test_who_held_it_is_known_at_the_peak_and_summed_elsewhere(captured) -> None:
    profile = captured.profile
    frame = profile.memory().frame
    at_peak = profile.ask("memory_holders").frame
    assert at_peak["bytes"].sum() == frame["total_bytes"].max()
    assert at_peak["total_fraction"].sum() == pytest.approx(1)
    last = frame.iloc[-1]
    later = profile.ask("memory_holders", at_ps=int(last["start_ps"])).frame
    assert later["holder"].tolist() == ["live arrays, told apart at the peak alone"]
    assert later["bytes"].sum() == last["total_bytes"]


def test_filters_narrow_samples_too(captured) -> None:
    profile = captured.profile
    times = profile.memory().frame["start_ps"]
    middle = int(times.iloc[len(times) // 2])
    narrowed = profile.memory(window_ps=(middle, int(times.iloc[-1]) + 1)).frame
    assert narrowed["start_ps"].tolist() == times[times >= middle].tolist()
    assert len(profile.memory(device="CPU:0").frame) == len(times)
    nothing = profile.memory(window_ps=(10**17, 10**17 + 1))
    assert not len(nothing.frame)
    assert "No sample of live arrays" in nothing.notes[0]
    with pytest.raises(xp.ProfileError):
        profile.memory(device="CPU:7")


def test_the_sidecar_holds_them_and_the_profile_nothing_of_the_sampling(captured) -> None:
    kept = json.loads((captured.folder / "xprof-nb.json").read_text())["live_arrays"]
    assert 5 < kept["sample_count"] <= 200
    assert 0 < kept["cost_s"] < 1
    assert len(kept["time_ns"]) == len(kept["devices"][0]["bytes"]) <= MOST_STRETCHES
    events = captured.profile.events().frame
    assert not events["line"].str.contains("xprof_nb live").any()


def test_a_capture_of_python_calls_holds_none_of_the_sampling(logdir) -> None:
    with xp.capture("python", logdir, python_tracer_level=1) as cap:
        time.sleep(0.3)
    names = cap.profile.events().frame["name"].astype(str)
    assert not names.str.contains(r"live_arrays.py:\d+ (?:_sample|alike|add|by_device)").any()


def test_a_failing_sampler_is_a_note(logdir, monkeypatch) -> None:
    def refuse(_: object) -> None:
        raise RuntimeError("no arrays today")

    monkeypatch.setattr(live_arrays, "alike", refuse)
    with xp.capture("failing", logdir) as cap:
        ten_by_mib()
    result = cap.profile.memory()
    assert not len(result.frame)
    assert any("no arrays today" in note for note in result.notes)


def test_no_thread_is_not_the_end_of_a_capture(logdir, monkeypatch) -> None:
    monkeypatch.setattr(Sampler, "_run", None)
    begin = threading.Thread.start

    def start(thread: threading.Thread) -> None:
        if thread.name == "xprof_nb live arrays":
            raise RuntimeError("can't start new thread")
        begin(thread)

    monkeypatch.setattr(threading.Thread, "start", start)
    with xp.capture("threadless", logdir) as cap:
        pass
    assert any("can't start new thread" in note for note in cap.profile.memory().notes)


def test_an_abandoned_capture_stops_sampling(logdir) -> None:
    cap = xp.capture("abandoned", logdir)
    cap.start()
    (thread,) = (thread for thread in threading.enumerate() if thread.name == "xprof_nb live arrays")
    cap.abandon()
    thread.join(5)
    assert not thread.is_alive()


def test_a_long_capture_keeps_every_peak_in_a_bounded_number_of_stretches() -> None:
    samples = live_arrays._Samples(devices=("d",))
    sizes = [(7919 * number) % 10_007 for number in range(5000)]
    for number, size in enumerate(sizes):
        samples.add(number * 1000, alike([]), {"d": size})
    assert MOST_STRETCHES / 2 <= len(samples.time_ns) <= MOST_STRETCHES
    assert samples.time_ns == sorted(samples.time_ns)
    assert max(samples.held["d"]) == max(sizes) == samples.peaks["d"][0]
    begins = [*(time // 1000 for time in samples.time_ns), len(sizes)]
    stretches = pairwise(begins)
    assert samples.held["d"] == [max(sizes[begin:end]) for begin, end in stretches]


def test_devices_with_allocator_statistics_are_left_to_their_allocators(monkeypatch) -> None:
    class Device:
        def memory_stats(self) -> dict[str, int]:
            return {"bytes_in_use": 1}

    monkeypatch.setattr(jax, "local_devices", lambda: [Device()])
    sampler = Sampler()
    sampler.end()
    assert sampler.seen() is None


def test_equal_arrays_are_counted_once_each() -> None:
    arrays = [jnp.ones((3, 5), jnp.float32), jnp.ones((3, 5), jnp.float32), jnp.ones(7, jnp.int8), jax.random.key(0)]
    (device,) = {device for array in arrays for device in array.devices()}
    assert held_bytes(arrays[:3]) == {device: 2 * 3 * 5 * 4 + 7}
    assert sorted(alike(arrays[:3]).values()) == [1, 2]
    assert held_bytes(arrays)[device] > 127
