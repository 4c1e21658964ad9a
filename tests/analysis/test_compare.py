"""Two profiles side by side: differences add up, ops are found again under other names, noise and hardware are said."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

import xprof_nb as xp
from tests.analysis.tpu_spaces import Op, core
from tests.xspace_builder import SpaceBuilder
from xprof_nb.analysis import op_matching

US = 10**6
DOT, COPY, REDUCE = (
    Op(*both) for both in (("dot.1", "convolution"), ("copy.1", "copy"), ("all-reduce.1", "all-reduce"))
)


def run(folder: Path, lengths: Sequence[float], steps: Sequence[float] = (20, 20, 20), cores: int = 1, ops=(DOT, COPY),
        **stats: object) -> xp.Profile:  # fmt: skip
    """Write steps of given lengths, in us; in each, ops of given lengths follow each other."""
    space = SpaceBuilder()
    starts = [2.0]
    for length in steps:
        starts.append(starts[-1] + length)
    events = [
        (row, (start + sum(lengths[:row])) * 1e-3, length * 1e-3)
        for start in starts
        for row, length in enumerate(lengths)
    ]
    for number in range(cores):
        core(space, number, ops, events, [("jit_f(7)", start * 1e-3, 15e-3) for start in starts], **stats)
    space.task_environment(0, 200 * 1000)
    return xp.open(space.write(folder))


@pytest.mark.parametrize("cores", [1, 2])
def test_differences_of_ops_and_idle_time_add_up_to_that_of_the_step(tmp_path: Path, cores: int) -> None:
    """Before: 20 = 8 + 4 + 8 idle. After, on as many or more devices: 17 = 5 + 5 + 7 idle."""
    before = run(tmp_path / "a", (8, 4))
    after = run(tmp_path / "b", (5, 5), (17, 17, 17), cores)
    result = xp.compare(before, after)
    rows = result.frame.set_index("op")
    assert rows["difference_ps"].to_dict() == pytest.approx({"dot.1": -3 * US, "copy.1": 1 * US, "idle": -1 * US})
    assert rows["before_ps"]["dot.1"] == pytest.approx(8 * US)
    assert result.summary["difference_ps"] == pytest.approx(-3 * US)
    assert result.frame["difference_ps"].sum() == pytest.approx(result.summary["difference_ps"])
    for groups in ("by_category", "by_scope"):
        assert sum(each["difference_ps"] for each in result.summary[groups]) == pytest.approx(-3 * US)
    assert result.summary["sentence"] == (
        "Step 20.0 µs -> 17.0 µs (−15.0 %): convolution −3.00 µs, copy +1.00 µs, idle −1.00 µs."
    )


def test_ops_that_are_new_or_vanished_count_in_full(tmp_path: Path) -> None:
    before = run(tmp_path / "a", (8, 4))
    after = run(tmp_path / "b", (8, 3), ops=(DOT, REDUCE))
    rows = xp.compare(before, after).frame.set_index("op")
    assert rows["match"].to_dict() == {"copy.1": "vanished", "all-reduce.1": "new", "dot.1": "same", "idle": "same"}
    assert rows["difference_ps"]["copy.1"] == pytest.approx(-4 * US)
    assert rows["difference_ps"]["all-reduce.1"] == pytest.approx(3 * US)
    assert rows["after_ps"].isna()["copy.1"]
    assert rows["difference_ps"].sum() == pytest.approx(0, abs=1)


def test_a_profile_against_itself_differs_by_nothing(cpu_profile: Path) -> None:
    result = xp.compare(cpu_profile, cpu_profile)
    assert (result.frame["difference_ps"] == 0).all()
    assert set(result.frame["match"]) == {"same"}
    assert result.summary["environment"] == []
    assert result.summary["is_beyond_noise"] is False
    assert len(result.frame) > 3
    assert "compare of" in result._repr_mimebundle_()[0]["text/plain"]


def test_ops_are_found_again_under_other_names() -> None:
    """Fusions swapped their numbers, one got another shape, and a program was renamed with its ops."""

    def op(program: str, name: str, shape: str | None, path: str | None, time_ps: float = 1) -> op_matching.Op:
        return op_matching.Op(program, name, "loop fusion", shape, path, None, time_ps)

    before = [
        *(op("f", "fusion.1", "f32[8]", "a/mul"), op("f", "fusion.2", "f32[4]", "a/add")),
        *(op("f", "fusion.3", "f32[2]", "b/exp"), op("f", "fusion.9", "f32[9]", "gone")),
        *(op("g", "x", "f32[1]", "g/x"), op("f", "unknown.1", None, None)),
    ]
    after = [
        *(op("f", "fusion.2", "f32[8]", "a/mul"), op("f", "fusion.1", "f32[4]", "a/add")),
        *(op("f", "fusion.3", "bf16[2]", "b/exp"), op("h", "x.5", "f32[1]", "g/x")),
        *(op("f", "unknown.2", None, None),),
    ]
    pairs = op_matching.matched(before, after)
    assert set(pairs) == {
        *((0, 0, "renamed"), (1, 1, "renamed"), (2, 2, "changed"), (4, 3, "renamed")),
        *((3, None, "vanished"), (5, None, "vanished"), (None, 4, "new")),
    }


@pytest.mark.parametrize(("steps", "beyond"), [((20, 30, 20, 30), False), ((40, 41, 40, 41), True), ((25,), None)])
def test_a_difference_within_the_noise_says_so(tmp_path: Path, steps: tuple[float, ...], beyond: bool | None) -> None:
    """Before: 20 and 30, a mean of 25 with a standard error of 2.9."""
    result = xp.compare(run(tmp_path / "a", (8, 4), (20, 30, 20, 30)), run(tmp_path / "b", (8, 4), steps))
    assert result.summary["is_beyond_noise"] is beyond
    assert ("within the noise" in result.summary["sentence"]) is (beyond is False)


def test_other_hardware_is_named(tmp_path: Path) -> None:
    before = run(tmp_path / "a", (8, 4))
    after = run(tmp_path / "b", (8, 4), device_type_string="TPU v6 lite")
    assert any("hardware differs" in note and "TPU v6 lite" in note for note in xp.compare(before, after).notes)


def test_without_steps_the_captures_are_compared(tmp_path: Path) -> None:
    space = SpaceBuilder()
    core(space, 0, [DOT], [(0, 0, 0.01)])
    space.task_environment(0, 50 * 1000)
    result = xp.compare(run(tmp_path / "a", (8, 4)), xp.open(space.write(tmp_path / "b")))
    assert result.summary["per"] == "device"
    assert (result.summary["before_ps"], result.summary["after_ps"]) == (200 * US, 50 * US)
    assert result.frame["difference_ps"].sum() == pytest.approx(-150 * US)
    assert any("No whole step after" in note for note in result.notes)


def test_only_an_opened_profile_is_compared_with(cpu_profile: Path) -> None:
    profile = xp.open(cpu_profile)
    for other in (None, "/etc/passwd", 1):
        with pytest.raises(xp.ProfileError, match="other cannot be"):
            profile.ask("compare", other=other)
