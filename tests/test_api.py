"""What a person holds: a profile, its results, and what they can be turned into."""

from __future__ import annotations

import csv
import io
import json
import math
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import xprof_nb as xp
from xprof_nb import queries
from xprof_nb.model import columns
from xprof_nb.model.answer import Answer
from xprof_nb.result import Result


@pytest.fixture(scope="module")
def profile(cpu_profile: Path) -> xp.Profile:
    return xp.open(cpu_profile)


def test_one_run_opens_by_its_file_its_folder_and_every_folder_above(cpu_profile: Path, profile: xp.Profile) -> None:
    (file,) = cpu_profile.glob("*.xplane.pb")
    for path in (file, cpu_profile, *list(cpu_profile.parents)[:3]):
        assert xp.open(path).data.identity == profile.data.identity


def test_a_profile_says_what_it_is(profile: xp.Profile) -> None:
    assert [device.name for device in profile.devices] == ["CPU:0"]
    assert "jit_train_step" in {program.name for program in profile.programs.values()}
    assert profile.origin == "opened"
    assert "CPU:0" in repr(profile)


def test_ops_have_the_promised_columns_in_their_units(profile: xp.Profile) -> None:
    promised = (
        "host device program program_id op category framework_op source occurrences time_ps self_time_ps flops "
        "bytes_accessed flops_per_s bytes_per_s bound_by flops_utilization hbm_utilization wasted_fraction"
    )
    frame = profile.ops().frame
    assert set(promised.split()) <= set(frame.columns)
    assert (frame["self_time_ps"] <= frame["time_ps"] * (1 + 1e-12)).all()
    assert frame["self_time_ps"].is_monotonic_decreasing
    known = frame[frame["flops"] > 0]
    assert known["flops_per_s"].to_numpy() == pytest.approx(known["flops"] / (known["self_time_ps"] * 1e-12))


def test_a_result_is_json_able_with_none_for_missing(profile: xp.Profile) -> None:
    given = json.loads(json.dumps(profile.op_profile().to_dict(), allow_nan=False))
    assert given["query"] == "op_profile"
    assert len(given["rows"]) == len(profile.op_profile().frame)
    idle = next(row for row in given["rows"] if row["kind"] == "idle")
    assert idle["flops"] is None


def result_of(frame: pd.DataFrame) -> Result:
    return Result(Answer(frame), "ops", {}, None)  # type: ignore[arg-type]


def test_csv_equals_the_frame_and_runs_no_formula(tmp_path: Path) -> None:
    frame = pd.DataFrame({"op": ["=cmd()", "@x", 'a"b,c', None], "time_ps": [1.5, math.nan, -2.0, 3.0]})
    text = result_of(frame).to_csv()
    assert text is not None
    rows = list(csv.reader(io.StringIO(text)))
    assert rows == [["op", "time_ps"], ["'=cmd()", "1.5"], ["'@x", ""], ['a"b,c', "-2.0"], ["", "3.0"]]
    assert result_of(frame).to_csv(tmp_path / "ops.csv") is None
    assert (tmp_path / "ops.csv").read_text() == text.replace("\r\n", "\n")


def test_csv_of_every_question_has_the_rows_of_its_table(profile: xp.Profile) -> None:
    for name, params in questions_with_needed(profile).items():
        result = profile.ask(name, **params)
        rows = list(csv.reader(io.StringIO(result.to_csv())))
        assert rows[0] == list(result.frame.columns)
        for written, held in zip(rows[1:], result.frame.itertuples(index=False), strict=True):
            assert [text.removeprefix("'") for text in written] == [
                "" if pd.api.types.is_scalar(value) and pd.isna(value) else str(value) for value in held
            ]


def test_a_table_crosses_the_wire_unchanged(profile: xp.Profile) -> None:
    frame = profile.op_profile().frame
    received, meta = columns.decode(columns.encode(frame, {"notes": ["é"]}))
    assert meta == {"notes": ["é"]}
    assert list(received.columns) == list(frame.columns)
    for name in frame:
        ours, theirs = frame[name], received[name]
        if name in {"program_id"}:
            continue
        same = [(a == b) or (pd.isna(a) and pd.isna(b)) for a, b in zip(ours, theirs, strict=True)]
        assert all(same), name


def test_integers_a_browser_cannot_hold_travel_as_text() -> None:
    frame = pd.DataFrame({"program_id": np.array([12190760917235803885, 1], np.uint64)})
    received, _ = columns.decode(columns.encode(frame))
    assert received["program_id"].tolist() == ["12190760917235803885", "1"]


@pytest.mark.parametrize(
    ("query", "params", "said"),
    [
        ("nonesuch", {}, "unknown question"),
        ("ops", {"colour": 1}, "takes no 'colour'"),
        ("op_profile", {"by": "moon"}, "program or category or framework or source"),
        ("op_profile", {"limit": 0}, "limit cannot be 0"),
        ("op_profile", {"limit": "many"}, "limit cannot be 'many'"),
        ("op_profile", {"search": 3}, "search cannot be 3"),
        ("ops", {"step": "last"}, "step cannot be 'last'"),
        ("ops", {"window_ps": [5, 5]}, "two times in ps"),
        ("ops", {"compat": "perfetto"}, "'xprof' or nothing"),
        ("ops", {"device": ["TPU:0"]}, "a name or a number"),
        ("op_details", {"program_id": "-1", "op": "x"}, "program_id cannot be"),
        ("op_details", {"program_id": "1", "op": ""}, "op cannot be"),
        ("op_details", {"program_id": "1", "op": "x"}, "did not run here"),
    ],
)
def test_a_malformed_question_is_refused_in_words(profile: xp.Profile, query: str, params: dict, said: str) -> None:
    with pytest.raises(xp.ProfileError, match=said):
        queries.ask(profile.data, query, params)


def questions_with_needed(profile: xp.Profile) -> dict[str, dict[str, object]]:
    """Return every question with what it cannot be asked without."""
    row = profile.ops().frame.iloc[0]
    tracks = profile.trace().frame
    ops = int(tracks.loc[tracks["kind"] == "ops", "track"].iloc[0])
    needed = {
        "op_details": {"program_id": str(row["program_id"]), "op": row["op"]},
        "trace_search": {"text": row["op"]},
        "trace_event": {"track": ops, "event": 0},
        "compare": {"other": profile.data},
        "trace_marks": {"markers": [{"name": "here", "time_ps": 0}]},
    }
    return {name: needed.get(name, {}) for name in queries.REGISTER}


def test_every_question_answers_a_cpu_profile(profile: xp.Profile) -> None:
    for name, params in questions_with_needed(profile).items():
        answer = queries.ask(profile.data, name, params)
        assert len(answer.frame) or answer.notes
        columns.encode(answer.frame, {"summary": dict(answer.summary), "notes": list(answer.notes)})


def test_errors_keep_their_fields_across_processes() -> None:
    error = xp.ProfileError("ends early", file="a.xplane.pb", position=1234, hint="Copy it again.")
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error) == "ends early in a.xplane.pb at byte 1,234. Copy it again."
    assert (copy.file, copy.position, copy.hint) == ("a.xplane.pb", 1234, "Copy it again.")


def test_broken_files_are_refused_by_name(corpus: Path) -> None:
    for folder in ("broken-empty", "broken-truncated"):
        with pytest.raises(xp.ProfileError, match=r"\.xplane\.pb"):
            xp.open(corpus / folder)


def test_a_gpu_profile_may_be_decoded_in_another_process(corpus: Path) -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
        other = xp.open(corpus / "mi350-te-attention", executor=executor)
    here = xp.open(corpus / "mi350-te-attention")
    pd.testing.assert_frame_equal(other.kernels().frame, here.kernels().frame)
    assert len(other.steps().frame) == len(here.steps().frame)


def test_hosts_can_be_decoded_in_other_processes(cpu_profile: Path, profile: xp.Profile) -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
        other = xp.open(cpu_profile, executor=executor)
    pd.testing.assert_frame_equal(other.ops().frame, profile.ops().frame)


def test_hardware_knows_models_by_their_exact_name() -> None:
    assert xp.hardware("NVIDIA GB200")["name"].tolist() != xp.hardware("NVIDIA B200")["name"].tolist()
    (v6e,) = xp.hardware("TPU v6 lite").itertuples()
    assert v6e.bf16_flops_per_s == 918e12
    assert v6e.source
    with pytest.raises(xp.ProfileError, match="not known"):
        xp.hardware("abacus 3000")
