"""Token generation: closed forms with a clock of ours, and a tiny transformer on this processor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import xprof_nb as xp
from xprof_nb.model.device import Peak, Peaks
from xprof_nb.tuning.generation import Bench, Costs

MS = 1e9
PEAKS = Peaks({"f32": Peak(1e9, "user", "")}, "f32", {"hbm": Peak(1e8, "user", "")})


class Machine:
    """Prefill and decode that take what a script says, in seconds."""

    def __init__(self, prefills: Iterator[float], decodes: Iterator[float]) -> None:
        self.now = 0.0
        self._prefills, self._decodes = prefills, decodes
        self.bench = Bench(lambda: self.now, lambda state: state)

    def prefill(self, prompt: Any) -> Any:
        self.now += next(self._prefills)
        return prompt

    def decode(self, state: Any) -> Any:
        self.now += next(self._decodes)
        return state


def measured(**told: Any) -> Any:
    """Two requests of four tokens after one untimed one of 9 s."""
    machine = Machine(iter([9, 0.1, 0.3]), iter([9] * 3 + [0.01, 0.02, 0.03, 0.02, 0.02, 0.08]))
    return xp.benchmark_generation(
        machine.prefill, machine.decode, "x", prompt_tokens=50, output_tokens=4, batch=2, requests=2, warm_up=1,
        bench=machine.bench, **told,
    )  # fmt: skip


def test_latencies_and_rates_are_closed_forms() -> None:
    found = measured(peaks=PEAKS).frame.set_index("name")["value"]
    assert found["ttft_avg"] == pytest.approx(200 * MS)
    assert found["ttft_p90"] == pytest.approx(280 * MS)  # 0.1 + 0.9 * 0.2, linear
    assert found["tpot_p50"] == pytest.approx(30 * MS)  # of 20 and 40
    assert found["itl_max"] == pytest.approx(80 * MS)
    assert found["itl_p50"] == pytest.approx(20 * MS)
    assert found["itl_p95"] == pytest.approx(np.percentile([10, 20, 30, 20, 20, 80], 95) * MS)
    assert found["e2e_max"] == pytest.approx(420 * MS)
    assert found["output_tokens_per_s"] == pytest.approx(2 * 2 * 4 / 0.58)
    assert found["prefill_tokens_per_s"] == pytest.approx(2 * 2 * 50 / 0.4)
    assert found["decode_tokens_per_s"] == pytest.approx(2 * 2 * 3 / 0.18)
    assert found["requests_per_s"] == pytest.approx(4 / 0.58)


def test_utilisation_is_told_work_over_time_and_peak() -> None:
    answer = measured(peaks=PEAKS, costs=Costs(prefill_flops=1e8, decode_bytes=1e6))
    found = answer.frame.set_index("name")["value"]
    assert found["prefill_mfu"] == pytest.approx(1e8 / 0.2 / 1e9)
    assert found["decode_hbm_utilization"] == pytest.approx(1e6 / 0.02 / 1e8)
    assert set(answer.frame["source"].tail(2)) == {"told"}


def test_unknown_work_and_peaks_are_missing_with_a_reason() -> None:
    answer = measured(peaks=Peaks(), costs=Costs(prefill_flops=1))
    assert answer.frame.set_index("name")["value"].isna()[["prefill_mfu", "decode_hbm_utilization"]].all()
    assert any("decode_bytes" in note for note in answer.notes)
    assert any("Tell peaks=" in note for note in answer.notes)


@pytest.mark.parametrize("wrong", [{"output_tokens": 1}, {"batch": 0}, {"requests": 0}, {"prompt_tokens": 1.5}])
def test_counts_out_of_bounds_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(xp.ProfileError, match=next(iter(wrong))):
        xp.benchmark_generation(str, str, "", **{"prompt_tokens": 1, "output_tokens": 2, **wrong})


def test_a_tiny_transformer() -> None:
    jax = pytest.importorskip("jax")
    width, length, most = 32, 8, 16
    weights = [jax.random.normal(key, (width, width)) / 6 for key in jax.random.split(jax.random.key(0), 4)]

    def attend(x: Any, keys: Any, values: Any, at: Any) -> Any:
        seen = jax.numpy.arange(most)[None, :] <= at[:, None]
        scores = jax.numpy.where(seen, x @ weights[0] @ keys.T, -1e9)
        return jax.nn.softmax(scores) @ values @ weights[3]

    @jax.jit
    def prefill(prompt: Any) -> Any:
        keys = jax.numpy.zeros((most, width)).at[:length].set(prompt @ weights[1])
        values = jax.numpy.zeros((most, width)).at[:length].set(prompt @ weights[2])
        return attend(prompt, keys, values, jax.numpy.arange(length))[-1:], keys, values, length

    @jax.jit
    def decode(state: Any) -> Any:
        x, keys, values, at = state
        keys = jax.lax.dynamic_update_slice(keys, x @ weights[1], (at, 0))
        values = jax.lax.dynamic_update_slice(values, x @ weights[2], (at, 0))
        return attend(x, keys, values, at[None]), keys, values, at + 1

    prompt = jax.random.normal(jax.random.key(1), (length, width))
    answer = xp.benchmark_generation(
        prefill, decode, prompt, prompt_tokens=length, output_tokens=5, requests=6, peaks=PEAKS
    )
    found = answer.frame.set_index("name")["value"]
    assert found.notna().all()
    assert len(answer.samples) == 6 * 5
    ttft = answer.samples[answer.samples["metric"] == "ttft"]["value_ps"]
    assert found["ttft_p50"] == pytest.approx(ttft.median())
    assert found["e2e_avg"] == pytest.approx(found["ttft_avg"] + 4 * found["tpot_avg"])
    assert xp.kpis(answer) is answer
