"""A profile that jax wrote, shown."""

import base64
import json

import numpy as np
import pytest

import xprof_nb as xp
from xprof_nb import snapshot, views
from xprof_nb.model import columns, units
from xprof_nb.views import fallback


@pytest.fixture(scope="module")
def profile(cpu_profile):
    return xp.open(cpu_profile)


def test_the_snapshot_agrees_with_the_answer(profile):
    payload = snapshot.build(profile.data, "op_profile", {"by": "category"})
    asked = profile.op_profile(by="category", limit=300).frame
    shown, _ = columns.decode(base64.b64decode(payload["table"]))
    assert list(shown["name"]) == list(asked["name"])
    np.testing.assert_array_equal(shown["time_ps"], asked["time_ps"])
    assert payload["run"]["devices"] == [device.name for device in profile.devices]
    assert payload["run"]["identity"] == profile.data.identity


def test_expensive_ops_have_their_hlo_text(profile):
    payload = snapshot.build(profile.data, "op_profile", {})
    shown, _ = columns.decode(base64.b64decode(payload["table"]))
    ops = shown[shown["kind"] == "op"].nlargest(5, "self_time_ps")
    for op in ops.itertuples():
        assert op.op in payload["details"][f"{op.program_id}/{op.op}"]["hlo_text"]


def test_every_question_has_a_table(profile):
    for result in (profile.ops(), profile.overview(), profile.steps(), profile.op_profile(by="source")):
        data, _ = views.mimebundle(result)
        assert len(json.dumps(data)) < 300_000
        assert result.profile.name in data["text/plain"].splitlines()[0]


def test_no_definition_of_an_overview_is_cut(profile):
    result = profile.overview()
    [shown] = [column.cells for column in fallback.table(result).columns if column.head == "definition"]
    assert list(shown) == list(result.frame["definition"])


def test_the_table_says_the_root_time(profile):
    result = profile.op_profile()
    root = [column.cells[0] for column in fallback.table(result).columns]
    assert units.duration(result.frame["time_ps"].iloc[0]) in root
    assert "100.0 %" in root
