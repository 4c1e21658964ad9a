from __future__ import annotations

import pytest

from xprof_nb.capture.options import PRESETS, CaptureOptions
from xprof_nb.capture.overhead import Overhead, by_option, describe, ladder


def test_the_factor_is_of_medians_and_names_what_costs_most() -> None:
    cost = Overhead.of([0.23, 0.2, 5.0], [0.94, 0.9, 1.1], PRESETS["python"])
    assert cost is not None
    assert str(cost) == "×4.1, Python tracing"
    assert cost.to_dict()["factor"] == pytest.approx(0.94 / 0.23)
    assert "230 ms without the profiler and 940 ms with it" in describe(cost)


def test_without_steps_there_is_no_factor() -> None:
    assert Overhead.of([], [1.0], CaptureOptions()) is None
    assert Overhead.of([1.0], [], CaptureOptions()) is None


def test_each_kind_of_tracing_is_compared_with_those_before_it() -> None:
    steps = {"device tracing": [2.0, 2.0], "host tracing": [3.0], "Python tracing": [12.0]}
    assert by_option(steps, [2.0]) == {"device tracing": 1.0, "host tracing": 1.5, "Python tracing": 4.0}
    assert by_option({"device tracing": [], "host tracing": [3.0]}, [2.0]) == {"host tracing": 1.5}


def test_the_ladder_adds_one_kind_at_a_time() -> None:
    levels = [(options.host_tracer_level, options.python_tracer_level) for _, options in ladder(PRESETS["python"])]
    assert levels == [(0, 0), (2, 0), (2, 1)]
