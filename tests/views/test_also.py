"""A view that draws other questions' answers too has them saved with it, as far as they fit."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import xprof_nb as xp
from xprof_nb import snapshot
from xprof_nb.model import columns
from xprof_nb.snapshot import also
from xprof_nb.snapshot.tables import fitting_table, whole_steps


@pytest.fixture(scope="module")
def profile(cpu_profile: Path) -> xp.Profile:
    return xp.open(cpu_profile)


def table(answer: dict[str, Any]) -> pd.DataFrame:
    return columns.decode(base64.b64decode(answer["table"]))[0]


def test_the_overview_keeps_the_steps(profile: xp.Profile) -> None:
    payload = snapshot.build(profile.data, "overview")
    kept = payload["extra"]["answers"]
    ours = profile.input_pipeline()
    assert list(kept) == ["input_pipeline"]
    assert kept["input_pipeline"]["summary"]["input_fraction"] == ours.summary["input_fraction"]
    assert "input_ops" not in kept["input_pipeline"]["summary"]
    steps = table(kept["input_pipeline"])
    np.testing.assert_array_equal(steps["compute_ps"], ours.frame["compute_ps"])
    assert "collective_ps" not in steps, "no step has any"
    assert kept["input_pipeline"]["notes"] == list(ours.notes)
    assert snapshot.json_bytes(payload) <= snapshot.LARGEST_PAYLOAD_BYTES


def test_who_can_ask_gets_none(profile: xp.Profile) -> None:
    payload = snapshot.build_live(profile.data, "overview")
    assert payload["extra"] == {"answers": {}}


def test_answers_end_where_the_bytes_do(profile: xp.Profile) -> None:
    assert also.answers(profile.data, ("input_pipeline", "steps"), {}, 0) == {}
    few = also.answers(profile.data, ("input_pipeline", "steps"), {}, 20_000)
    assert len(json.dumps(few)) <= 20_000


def test_steps_are_thinned_on_all_devices() -> None:
    frame = pd.DataFrame({"device": np.repeat(["TPU:0", "TPU:1"], 1000), "step": np.tile(np.arange(1000) * 7, 2)})
    kept = whole_steps(frame, 500)
    assert kept["device"].value_counts().to_dict() == {"TPU:0": 250, "TPU:1": 250}
    assert sorted(set(kept["step"])) == [n * 28 for n in range(250)]
    assert whole_steps(frame, 2000).equals(frame)
    small, _ = columns.decode(base64.b64decode(fitting_table(frame, "steps", 4000)[1]))
    assert set(small["device"]) == {"TPU:0", "TPU:1"}
