"""Sweeps of steps with known laws: the knee, the limit, the advice, and what is done again after an interruption."""

import pytest

import xprof_nb as xp
from tests.tuning.made import Made
from xprof_nb.errors import DamagedFileError, NotFoundError, ProfileError, UsageError
from xprof_nb.tuning.grid import settings, sizes
from xprof_nb.tuning.order import Doubling, Fixed
from xprof_nb.tuning.store import Store, store
from xprof_nb.tuning.sweep import conduct

SIZES = [1, 2, 4, 8, 16, 32, 64, 128]


def run(made, order=None, kept=None, **options):
    return conduct(made, order or Fixed(sizes(SIZES)), "batch_size", kept, made.limit, **options)


def test_a_fixed_and_a_growing_part():
    found = run(Made(lambda n: 9e-3 + 1e-3 * n))
    assert found.recommended == 128
    assert found.summary["knee"] == pytest.approx(81, rel=1e-6)
    assert found.summary["fixed_time_s"] == pytest.approx(9e-3, rel=1e-6)
    assert found.summary["time_per_item_s"] == pytest.approx(1e-3, rel=1e-6)
    assert found.summary["next_size"] == 256
    assert found.frame.items_per_s.tolist() == pytest.approx([n / (9e-3 + 1e-3 * n) for n in SIZES])


def test_larger_sizes_that_bring_nothing_are_not_advised():
    found = run(Made(lambda n: 1e-3 * max(n, 16)))
    assert found.recommended == 16
    assert found.summary["next_size"] is None
    assert "larger ones bring no more" in found.summary["sentence"]


@pytest.mark.parametrize("seed", range(20))
def test_noise_of_five_percent(seed):
    found = run(Made(lambda n: 9e-3 + 1e-3 * n, noise=0.05, seed=seed))
    assert found.summary["time_per_item_s"] == pytest.approx(1e-3, rel=0.05)
    assert found.summary["knee"] == pytest.approx(81, rel=0.2)
    assert found.recommended in {64, 128}


def test_a_cache_cliff_is_told():
    made = Made(lambda n: 1e-3 + (1e-4 * n if n < 64 else 4e-4 * n))
    found = run(made, Fixed(sizes([4, 8, 16, 24, 32, 48, 64, 96, 128, 192])))
    assert found.recommended == 48
    assert any("From batch_size 64 on another law holds" in note for note in found.notes)


def test_what_will_not_fit_is_skipped_and_what_does_not_is_recorded():
    made = Made(lambda n: 1e-3 + 1e-3 * n, lambda n: 90 + 10 * n, limit=1000)
    found = run(made, Fixed(sizes([1, 2, 4, 50, 80, 90, 100, 200])))
    assert found.frame.status.tolist() == ["done"] * 6 + ["skipped"] * 2
    assert made.measured == [1, 2, 4, 50, 80, 90]
    assert found.advice.largest == 81
    assert found.recommended == 80, "with a tenth of memory left free"
    assert any("Up to batch_size 81 fit" in note for note in found.notes)


def test_after_one_that_ran_out_larger_ones_are_skipped():
    found = run(Made(lambda n: 1e-3 * n, lambda n: 10.0 if n < 16 else 2000.0, limit=1000))
    assert found.frame.status.tolist() == ["done"] * 4 + ["oom"] + ["skipped"] * 3
    assert any("Memory ran out at batch_size 16" in note for note in found.notes)


@pytest.mark.parametrize("seed", range(20))
def test_the_reserve_outlasts_peaks_that_vary_by_five_percent(seed):
    made = Made(lambda n: 1e-3 + 1e-4 * n, lambda n: 90 + 10 * n, limit=1000, memory_noise=0.02, seed=seed)
    chosen = run(made, Fixed(sizes([1, 2, 4, 8, 16, 32, 64, 72, 80, 88]))).recommended
    peaks = [(90 + 10 * chosen) * (1 + 0.05 * share) for share in (-1, -0.5, 0, 0.5, 1)]
    assert chosen >= 64
    assert max(peaks) <= 1000


def test_time_that_does_not_grow_is_named():
    kinds = {"collective": lambda n: 33e-3, "matrix": lambda n: 56e-3 * n}
    found = run(Made(lambda n: 33e-3 + 56e-3 * n, kinds=kinds), Fixed(sizes([1, 2, 4, 8])))
    (note,) = [note for note in found.notes if "does not grow" in note]
    assert note.startswith(
        "Time in collective work does not grow with batch_size: 33.0 ms a step, 37.1% of it at 1 and 6.9%"
    )
    assert found.summary["fixed_kinds"] == ["collective"]


def test_eight_sizes_in_three_runs():
    made = Made(lambda n: 9e-3 + 1e-3 * n, lambda n: 90 + 10 * n, limit=1000)
    found = run(made, Fixed(sizes(SIZES)), most_runs=3)
    assert len(made.measured) == 3
    assert found.frame.batch_size.tolist() == SIZES
    assert found.frame.status.value_counts().to_dict() == {"predicted": 4, "done": 3, "skipped": 1}
    predicted = found.frame[found.frame.status == "predicted"]
    assert predicted.step_time_s.tolist() == pytest.approx([9e-3 + 1e-3 * n for n in predicted.batch_size])


def test_doubling_ends_where_it_brings_nothing_and_refines():
    made = Made(lambda n: 1e-3 * max(n, 16))
    found = run(made, Doubling())
    assert max(made.measured) <= 128
    assert 12 in made.measured
    assert found.recommended == 16


def test_doubling_ends_where_memory_does():
    made = Made(lambda n: 9e-3 + 1e-3 * n, lambda n: 90 + 10 * n, limit=1000)
    found = run(made, Doubling())
    assert (
        made.measured
        == [
            1,
            2,
            4,
            8,
            16,
            32,
            64,
            48,
        ][: len(made.measured)]
    )
    assert found.recommended == 64


def test_the_advised_next_size_can_be_measured():
    made = Made(lambda n: 9e-3 + 1e-3 * n)
    assert run(made, Fixed(sizes([1, 2, 4])), verify=True).recommended == 8


class Interrupted(Made):
    stop_at: int = 0

    def __call__(self, setting):
        if len(self.measured) == self.stop_at:
            raise KeyboardInterrupt
        return super().__call__(setting)


@pytest.mark.parametrize("stop_at", range(len(SIZES)))
def test_an_interrupted_sweep_goes_on_to_the_same_table(tmp_path, stop_at):
    def law(n):
        return 9e-3 + 1e-3 * n

    kept = Store(tmp_path / "s.json", {"code": "x"})
    first = Interrupted(law)
    first.stop_at = stop_at
    with pytest.raises(KeyboardInterrupt):
        run(first, kept=kept)
    second = Made(law)
    found = run(second, kept=kept)
    assert first.measured + second.measured == SIZES
    assert found.frame.equals(run(Made(law)).frame)
    again = run(Made(lambda n: 1.0), kept=kept)
    assert again.frame.equals(found.frame), "nothing is measured a third time"
    assert any("8 settings measured earlier and not again" in note for note in again.notes)
    assert run(Made(lambda n: 1.0), kept=kept, fresh=True).frame.step_time_s.tolist() == [1.0] * 8


def test_another_definition_begins_anew(tmp_path):
    run(Made(lambda n: 1.0), kept=Store(tmp_path / "s.json", {"code": "x"}))
    again = Made(lambda n: 2.0)
    assert run(again, kept=Store(tmp_path / "s.json", {"code": "y"})).frame.step_time_s.tolist() == [2.0] * 8


def test_what_was_kept_is_opened_without_measuring(tmp_path):
    found = run(Made(lambda n: 9e-3 + 1e-3 * n), kept=store(tmp_path, "mine", {}, "batch_size"))
    opened = xp.open_sweep("mine", tmp_path)
    assert opened.frame.equals(found.frame)
    assert opened.summary == found.summary
    with pytest.raises(NotFoundError, match=r"no sweep 'yours'.*mine"):
        xp.open_sweep("yours", tmp_path)
    (tmp_path / "xprof-nb-sweeps" / "cut.json").write_text('{"points": [')
    with pytest.raises(DamagedFileError, match=r"cut\.json"):
        xp.open_sweep("cut", tmp_path)


def test_a_damaged_file_is_named(tmp_path):
    (tmp_path / "s.json").write_text('{"definition": {"code": "x"}, "points": [3]}')
    with pytest.raises(DamagedFileError, match=r"s\.json"):
        run(Made(lambda n: 1.0), kept=Store(tmp_path / "s.json", {"code": "x"}))


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(ProfileError, match="cannot be kept"):
        run(Made(lambda n: 1.0), kept=Store(tmp_path / "file" / "s.json", {}))


def test_every_combination():
    assert settings({"batch": [1, 2], "remat": ["none", "full"]}) == [
        {"batch": 1, "remat": "none"},
        {"batch": 1, "remat": "full"},
        {"batch": 2, "remat": "none"},
        {"batch": 2, "remat": "full"},
    ]


@pytest.mark.parametrize(
    "bad", [{}, {"batch": []}, {"batch": "12"}, {"batch": 3}, {"batch": [[1]]}, {"b": range(2000)}]
)
def test_what_no_sweep_can_go_through(bad):
    with pytest.raises(UsageError):
        settings(bad)


@pytest.mark.parametrize("bad", [[0], [-1], [1.5], ["a"], []])
def test_what_is_no_batch_size(bad):
    with pytest.raises(UsageError):
        sizes(bad)


def test_it_shows_itself():
    found = run(Made(lambda n: 9e-3 + 1e-3 * n, lambda n: 90 + 10 * n, limit=10_000))
    text, html = repr(found), found._repr_html_()
    assert "batch_size" in text
    assert "137 ms" in text
    assert html.count("<img") == 3
    assert len(html) < 100_000
    assert "recommended" in html
