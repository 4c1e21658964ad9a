"""The exact strings people read."""

import math

import numpy as np
import pandas as pd
import pytest

from xprof_nb.model import units


@pytest.mark.parametrize(
    ("ps", "text"),
    [
        (0, "0 ps"),
        (1, "1.00 ps"),
        (999, "999 ps"),
        (1_000, "1.00 ns"),
        (12_345, "12.3 ns"),
        (54_300_000_000, "54.3 ms"),
        (999_499, "999 ns"),
        (9_996, "10.0 ns"),
        (999_600_000, "1.00 ms"),
        (1_170_000_000_000, "1.17 s"),
        (1_234e12, "1\u2009234 s"),
        (-2_500_000, "-2.50 µs"),
    ],
)
def test_duration(ps, text):
    assert units.duration(ps) == text


@pytest.mark.parametrize("missing", [None, math.nan, math.inf, pd.NA, np.float64("nan"), pd.NaT])
@pytest.mark.parametrize(
    "function",
    [
        units.duration,
        units.flops,
        units.flops_per_s,
        units.bytes_per_s,
        units.size,
        units.percent,
        units.utilization,
        units.count,
        units.significant,
    ],
)
def test_missing_is_an_en_dash(function, missing):
    assert function(missing) == "–"


def test_rates_and_sizes():
    assert units.flops_per_s(312e12) == "312 TFLOP/s"
    assert units.flops_per_s(0) == "0 FLOP/s"
    assert units.flops_per_s(9.999e11) == "1.00 TFLOP/s"
    assert units.flops(2 * 1024**3) == "2.15 GFLOP"
    assert units.bytes_per_s(980e9) == "980 GB/s"
    assert [units.size(n) for n in (0, 4, 512)] == ["0 B", "4 B", "512 B"]
    assert units.size(1000) == "1\u2009000 B"
    assert units.size(1536) == "1.50 KiB"
    assert units.size(12.1 * 1024**3) == "12.1 GiB"


def test_percent_has_one_decimal_and_is_never_clipped():
    assert units.percent(0.931) == "93.1 %"
    assert units.percent(np.float32(1.0)) == "100.0 %"
    assert units.percent(0.0004) == "<0.1 %"
    assert units.percent(0) == "0.0 %"
    assert units.utilization(0.34) == "34.0 %"
    assert units.utilization(1.05) == "105.0 %"
    assert units.utilization(3.03) == "303.0 % ⚠"


def test_counts():
    assert units.count(26_723) == "26\u2009723"
    assert units.count(np.int64(7)) == "7"
    assert units.count(2.5) == "2.50"
    assert units.significant(0.01234) == "0.0123"
    assert units.significant(9.996) == "10.0"


@pytest.mark.parametrize(
    ("column", "value", "text"),
    [
        ("self_time_ps", 27.7e9, "27.7 ms"),
        ("start_ns", 1500, "1.50 µs"),
        ("duration_s", 3.0, "3.00 s"),
        ("flops", 1e9, "1.00 GFLOP"),
        ("flops_per_s", 1e9, "1.00 GFLOP/s"),
        ("hbm_bytes_per_s", 1e9, "1.00 GB/s"),
        ("bytes_accessed", 2048, "2.00 KiB"),
        ("bytes", 2048, "2.00 KiB"),
        ("peak_bytes", 2048, "2.00 KiB"),
        ("hbm_utilization", 1.2, "120.0 % ⚠"),
        ("wasted_fraction", 0.61, "61.0 %"),
        ("occurrences", 12_000, "12\u2009000"),
        ("op", "fusion.12", "fusion.12"),
        ("op", None, "–"),
        ("op", "nan", "nan"),
        ("is_exposed", True, "True"),
    ],
)
def test_a_column_says_its_unit(column, value, text):
    assert units.formatter(column)(value) == text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (5.43e10, "ps", "54.3 ms"),
        (0.922, "fraction", "92.2 %"),
        (1e12, "FLOP/s", "1.00 TFLOP/s"),
        (2048, "B", "2.00 KiB"),
        (12, "steps", "12 steps"),
        (12, "", "12"),
        (math.nan, "ps", "–"),
        (None, "steps", "–"),
    ],
)
def test_a_unit_of_its_own(value, unit, text):
    assert units.quantity(value, unit) == text


@pytest.mark.parametrize(
    ("column", "heading"),
    [
        ("step_time_ps", "step time"),
        ("start_ns", "start"),
        ("idle_fraction", "idle"),
        ("time_fraction", "share"),
        ("flops_per_s", "FLOP/s"),
        ("hbm_bytes_per_s", "HBM B/s"),
        ("bytes_accessed", "bytes accessed"),
        ("flops_utilization", "of FLOP/s peak"),
        ("bound_by", "bound by"),
        ("flops", "FLOPs"),
    ],
)
def test_headings(column: str, heading: str) -> None:
    assert units.heading(column) == heading


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0 steps"), (1, "1 step"), (2, "2 steps"), (26_723, "26\u2009723 steps")]
)
def test_counted(number, text):
    assert units.counted(number, "step") == text


def test_counted_with_a_plural_of_its_own():
    assert units.counted(2, "launch", "launches") == "2 launches"
    assert units.counted(1, "launch", "launches") == "1 launch"
