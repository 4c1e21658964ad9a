"""Reports of other tools: NxD Inference's own example, made files of vLLM and SGLang, and damaged ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import xprof_nb as xp

MS = 1e9
MODEL = {"latency_ms_avg": 10.0, "latency_ms_p50": 9.0, "latency_ms_p100": 20.0, "throughput": 400.0}


def values(report: Any, **told: Any) -> dict[str, float]:
    frame = xp.kpis(report, **told).frame
    assert list(frame.columns) == ["name", "value", "unit", "definition", "source"]
    return dict(zip(frame["name"], frame["value"], strict=True))


def test_the_example_of_nxd_inference(corpus: Path) -> None:
    answer = xp.kpis(corpus / "neuron-summaries" / "nxdi_benchmark_report_doc.json")
    found = answer.frame.set_index("name")
    assert found["value"]["ttft_p50"] == pytest.approx(705.0175666809082 * MS)
    assert found["value"]["tpot_max"] == pytest.approx(32.74345397949219 * MS)
    assert found["value"]["e2e_avg"] == pytest.approx(28879.499554634094 * MS)
    assert found["value"]["decode_tokens_per_s"] == pytest.approx(147.22298324644066)
    assert found["value"]["total_tokens_per_s"] == pytest.approx(283.66142510545984)
    assert "output_tokens_per_s" not in found.index  # the end-to-end rate counts the prompt too
    assert "not the rate of output tokens" in found["definition"]["total_tokens_per_s"]
    assert any("a batch of 4;" in note for note in answer.notes)


def test_models_that_did_not_run_are_null() -> None:
    report = {"e2e_model": None, "token_generation_model": MODEL, "vision_encoder_model": None}
    assert values(report) == {"tpot_avg": 10 * MS, "tpot_p50": 9 * MS, "tpot_max": 20 * MS, "decode_tokens_per_s": 400}


@pytest.mark.parametrize(
    ("rate", "batch", "said"),
    [(400, 4, None), (400, 2, "a batch of 4, not 2"), (150, None, "no whole number"), (400, None, "is a batch of 4")],
)
def test_a_rate_is_held_against_the_latency(rate: float, batch: float | None, said: str | None) -> None:
    notes = xp.kpis({"token_generation_model": {**MODEL, "throughput": rate}}, batch=batch).notes
    assert notes == () if said is None else any(said in note for note in notes)


def test_vllm_with_any_percentile(tmp_path: Path) -> None:
    report = {
        "completed": 10, "duration": 2.5, "request_throughput": 4.0, "request_goodput:": None,
        "output_throughput": 800.0, "total_token_throughput": 1000.0, "input_lens": [1, 2],
        "mean_ttft_ms": 20.0, "median_ttft_ms": 19.0, "p99.9_ttft_ms": 50.0, "p90_tpot_ms": 5.0, "p50_e2el_ms": 600.0,
    }  # fmt: skip
    file = tmp_path / "vllm.json"
    file.write_text(json.dumps(report))
    assert values(file) == {
        "requests": 10, "duration": 2500 * MS, "requests_per_s": 4, "output_tokens_per_s": 800,
        "total_tokens_per_s": 1000, "ttft_avg": 20 * MS, "ttft_p50": 19 * MS, "ttft_p99.9": 50 * MS,
        "tpot_p90": 5 * MS, "e2e_p50": 600 * MS,
    }  # fmt: skip


def test_sglang_appends_a_line_a_run(tmp_path: Path) -> None:
    file = tmp_path / "sglang.jsonl"
    file.write_text('{"mean_e2e_latency_ms": 1}\n{"mean_e2e_latency_ms": 2, "total_throughput": 3}\n')
    assert values(file) == {"e2e_avg": 2 * MS, "total_tokens_per_s": 3}


@pytest.mark.parametrize("value", ["fast", True, -1, float("nan"), float("inf"), [], {}, 10**400])
def test_what_is_no_amount_is_missing_and_named(value: Any) -> None:
    answer = xp.kpis({"mean_ttft_ms": value, "completed": 1})
    assert answer.frame.set_index("name")["value"].isna()["ttft_avg"]
    assert any("mean_ttft_ms" in note for note in answer.notes)


@pytest.mark.parametrize(
    "text", ["", "{", "[1]", "{}", '{"a": 1}', "[" * 100_000, "1" * 5000, '{"e2e_model": null}', "\x00", "null\nnull"]
)
def test_damaged_files_are_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "report.json"
    file.write_text(text)
    with pytest.raises(xp.ProfileError, match=r"report\.json"):
        xp.kpis(file)


def test_a_missing_file_and_a_nonsense_batch_are_refused(tmp_path: Path) -> None:
    with pytest.raises(xp.ProfileError, match="no such report"):
        xp.kpis(tmp_path / "none.json")
    with pytest.raises(xp.ProfileError, match="batch cannot be"):
        xp.kpis({"completed": 1}, batch=0)


def test_text_of_a_report_is_escaped() -> None:
    shown = xp.kpis({"completed": 1, "mean_ttft_ms": "<script>"})._repr_mimebundle_()
    assert "<script>" not in shown["text/html"]
    assert "1 requests" in shown["text/plain"]
