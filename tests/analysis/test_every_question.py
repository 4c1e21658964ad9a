"""Whatever a profile holds, every question ends in rows, in a reason for having none, or in an error of ours."""

from __future__ import annotations

import random
import shutil
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pandas as pd
import pytest

import xprof_nb as xp
from tests.analysis import questions
from tests.analysis.gpu_spaces import GpuSpace, add_module
from tests.analysis.mutants import NAMES, mutant, trimmed
from tests.conftest import REPO
from tests.tpu_builder import Core
from tests.xspace_builder import SpaceBuilder
from xprof_nb.errors import UsageError
from xprof_nb.formats import source
from xprof_nb.runs import opening

MUTANTS = 200
QUESTIONS_OF_EACH = 3
CAUSES = ("nothing ran", "see the notes", "jax.profiler", "Kernels are what GPUs run")
SMALLEST = ["mi300x-jax-gemm", "tpu-v6e-psum"]


def recorded() -> list[bytes]:
    """Return small recorded profiles; none where they are absent."""
    folders = [REPO.parent / "shared" / "corpus" / name for name in SMALLEST]
    return [path.read_bytes() for folder in folders for path in folder.glob("plugins/profile/*/*.xplane.pb")]


def small_tpu() -> SpaceBuilder:
    """Return two cores with steps, a collective and an asynchronous copy."""
    space = SpaceBuilder()
    space.task_environment(0, 100_000)
    for number in range(2):
        core = Core(space, f"/device:TPU:{number}")
        for name, category in (
            ("fusion.1", "loop fusion"),
            ("all-reduce.2", "all-reduce"),
            ("copy-start.3", "copy-start"),
        ):
            core.op(name, category, flops=1000, bytes_accessed=100)
        core.runs([("jit_f(7)", start, 30) for start in (0, 40)])
        core.ops([(name, start, 5) for start in (0, 40) for name in ("fusion.1", "all-reduce.2")])
        core.asynchronous([("copy-start.3", 12, 8)])
        core.steps([("1", 0, 30), ("2", 40, 30)])
    return space


def small_gpu() -> SpaceBuilder:
    """Return a GPU with a described program and one nobody describes."""
    made = GpuSpace(jit_f=add_module())
    stream = made.gpu().line("Stream #1(Compute)")
    for start in (0, 50, 100):
        made.kernel(stream, "loop_add", start, 10, "jit_f/add.1", launch=start)
        made.kernel(stream, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", start + 20, 10)
    return made.space


def test_damaged_profiles_are_answered_or_refused(cpu_profile: Path, tmp_path: Path) -> None:
    (captured,) = cpu_profile.glob("*.xplane.pb")
    whole = [trimmed(data, events=30) for data in (captured.read_bytes(), *recorded())]
    whole += [small_tpu().to_bytes(), small_gpu().to_bytes()]
    chance = random.Random(7)
    seen: Counter[str] = Counter()
    for number in range(MUTANTS):
        ways, data = mutant(whole[number % len(whole)], chance)
        file = tmp_path / "mutant.xplane.pb"
        file.write_bytes(data)
        try:
            profile = xp.open(file)
        except xp.ProfileError:
            seen["not opened"] += 1
            continue
        for query in chance.sample(questions.names(), QUESTIONS_OF_EACH):
            params = questions.asked_at_random(profile, query, chance)
            said = questions.outcome(profile, query, **params)
            assert said in {"answered", "refused", "empty"}, (ways, query, params)
            seen[said] += 1
    assert seen["not opened"] < MUTANTS / 2
    assert min(seen["answered"], seen["refused"], seen["empty"]) > MUTANTS / 10


def nothing(space: SpaceBuilder) -> None:
    """Leave the space without a plane but the session's."""


def host_alone(space: SpaceBuilder) -> None:
    """Let the host do something."""
    space.plane("/host:CPU").line("python").event("x", 0, 10)


def idle_tpu(space: SpaceBuilder) -> None:
    """Add a core on which nothing ran."""
    host_alone(space)
    space.plane("/device:TPU:0").line("XLA Ops")


def idle_gpu(space: SpaceBuilder) -> None:
    """Add a GPU on which nothing ran."""
    host_alone(space)
    space.plane("/device:GPU:0")


@pytest.mark.parametrize("compat", [None, "xprof"])
@pytest.mark.parametrize("fill", [nothing, host_alone, idle_tpu, idle_gpu])
def test_a_profile_in_which_nothing_ran_says_why_at_every_question(tmp_path: Path, fill, compat) -> None:
    space = SpaceBuilder()
    space.task_environment(0, 1000)
    fill(space)
    profile = xp.open(space.write(tmp_path))
    for query in questions.names():
        said = questions.outcome(profile, query, compat=compat, **questions.NEEDED.get(query, {}))
        assert said in {"answered", "refused", "empty"}, query
    for query in ("ops", "op_profile", "framework_ops", "kernels", "collectives", "roofline", "steps"):
        result = profile.ask(query)
        assert not len(result.frame)
        assert any(word in note for note in result.notes for word in CAUSES)
    numbers = profile.overview().frame.set_index("name")["value"]
    assert numbers.drop("compile_time_ps").isna().all() or profile.devices  # never a pie of zeros


@pytest.mark.parametrize("compat", [None, "xprof"])
def test_a_window_in_which_nothing_ran_says_so(cpu_profile: Path, compat: str | None) -> None:
    profile = xp.open(cpu_profile)
    end = profile.data.hosts[0].window_ps[1]
    for query in questions.names():
        needed = questions.NEEDED.get(query, {})
        assert (
            questions.outcome(profile, query, window_ps=(end + 1, end + 2), compat=compat, **needed)
            != "empty without a word"
        )
    for query in ("ops", "op_profile", "roofline", "steps", "events"):
        result = profile.ask(query, window_ps=(end + 1, end + 2))
        assert not len(result.frame)
        assert any("chosen part" in note for note in result.notes)


def test_a_filter_that_cannot_be_applied_is_named(cpu_profile: Path) -> None:
    profile = xp.open(cpu_profile)
    for query, params in (
        ("buffers", {"step": 3}),
        ("memory", {"program": "jit_train_step"}),
        ("trace", {"program": "jit_train_step"}),
        ("trace_window", {"window_ps": (0, 1)}),
        ("trace_selection", {"device": "CPU:0"}),
        ("trace_search", {"text": "a", "step": 3}),
        ("collectives", {"window_ps": (0, 1), "compat": "xprof"}),
        ("input_pipeline", {"window_ps": (0, 1), "compat": "xprof"}),
        ("framework_ops", {"device": "CPU:0", "compat": "xprof"}),
        ("buffers", {"host": profile.hosts[0], "compat": "xprof"}),
        ("memory", {"program": "jit_train_step", "compat": "xprof"}),
    ):
        assert any("is not applied" in note for note in profile.ask(query, **params).notes), query


@pytest.mark.parametrize("query", sorted({*questions.names()} - {"trace_marks"}))
def test_what_the_profile_has_not_is_refused_or_said(cpu_profile: Path, query: str) -> None:
    profile = xp.open(cpu_profile)
    needed = questions.NEEDED.get(query, {})
    for params in ({"host": "nobody"}, {"device": "TPU:77"}, {"program": "jit_none"}, {"step": 10**6}):
        try:
            result = profile.ask(query, **params, **needed)
        except UsageError:
            continue
        assert any("not applied" in note or "not in the profile" in note for note in result.notes), params
    with pytest.raises(UsageError, match="takes no 'colour'"):
        profile.ask(query, colour=1)


def test_hostile_names_are_text_in_every_answer(tmp_path: Path) -> None:
    space = SpaceBuilder("wor\u202eker")
    core = Core(space)
    for number, name in enumerate(NAMES):
        core.op(name or "unnamed", name, tf_op=name, source=name)
        core.runs([(f"{name}({number})", 10 * number, 10)])
    core.ops([(name or "unnamed", 10 * number, 10) for number, name in enumerate(NAMES)])
    profile = xp.open(space.write(tmp_path))
    for query in questions.names():
        for name in ("'; DROP TABLE ops; --", '"]; digraph { a -> b', "\udce9", "\x00"):
            for params in ({"program": name}, {"device": name}, {"host": name}):
                assert "without" not in questions.outcome(profile, query, **params, **questions.NEEDED.get(query, {}))
        assert "without" not in questions.outcome(profile, query, **questions.NEEDED.get(query, {}))
    for search in ("\udce9", "(", "\x00", "/(/", "/\udce9/"):
        assert "without" not in questions.outcome(profile, "trace_search", text=search)
        assert "without" not in questions.outcome(profile, "events", pattern=search)
        assert "without" not in questions.outcome(profile, "op_profile", search=search)
        assert "without" not in questions.outcome(profile, "sql", text=search)


def test_a_file_replaced_after_it_was_opened_is_named_by_questions_that_read_it_again(
    cpu_profile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (source, opening):
        monkeypatch.setattr(module, "SMALL_BYTES", 0)
    run = tmp_path / "run"
    shutil.copytree(cpu_profile, run)
    (file,) = run.glob("*.xplane.pb")
    profile = xp.open(run)
    before = profile.ops().frame
    file.unlink()
    small_gpu().write(run)
    shutil.move(run / "worker.xplane.pb", file)
    pd.testing.assert_frame_equal(profile.ops().frame, before)  # what was read stays
    for query in ("events", "trace_window", "framework_ops", "input_pipeline"):
        with pytest.raises(xp.ProfileError, match=r"\.xplane\.pb"):
            profile.ask(query)
    assert "without" not in questions.outcome(profile, "memory")
    file.unlink()
    with pytest.raises(xp.ProfileError, match=r"\.xplane\.pb"):
        profile.events()


def test_a_small_file_is_held_whatever_becomes_of_it(tmp_path: Path) -> None:
    file = small_tpu().write(tmp_path)
    profile = xp.open(file)
    before = profile.events().frame
    file.unlink()
    pd.testing.assert_frame_equal(profile.events().frame, before)


def test_threads_that_ask_at_once_get_the_same_answers(cpu_profile: Path) -> None:
    asked = [query for query in questions.names() if query not in {"op_details", "trace_event", "compare"}] * 2
    random.Random(3).shuffle(asked)
    shared, alone = xp.open(cpu_profile), xp.open(cpu_profile)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda query: shared.ask(query, **questions.NEEDED.get(query, {})), asked))
    for query, result in zip(asked, found, strict=True):
        pd.testing.assert_frame_equal(result.frame, alone.ask(query, **questions.NEEDED.get(query, {})).frame)


def test_a_read_only_folder_answers_and_stays_as_it_was(cpu_profile: Path, tmp_path: Path) -> None:
    run = tmp_path / "plugins" / "profile" / "run"
    shutil.copytree(cpu_profile, run)
    before = sorted((path.name, path.stat().st_mtime_ns) for path in run.iterdir())
    run.chmod(0o555)
    try:
        profile = xp.open(tmp_path)
        for query in questions.names():
            assert "without" not in questions.outcome(profile, query, **questions.NEEDED.get(query, {}))
        refused = profile.ask("trace_marks", markers=[{"name": "here", "time_ps": 0}])
        assert not refused.summary["saved"]
    finally:
        run.chmod(0o755)
    assert sorted((path.name, path.stat().st_mtime_ns) for path in run.iterdir()) == before
