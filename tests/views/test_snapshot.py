"""The payload is small, plain JSON, and says what it left out."""

import base64
import json

import numpy as np
import pandas as pd
import pytest

from tests.views.handmade import HOSTILE, profile_data
from xprof_nb import snapshot
from xprof_nb.errors import UsageError
from xprof_nb.model import columns


def build(**params):
    return snapshot.build(profile_data(), "op_profile", params)


def test_it_holds_the_table_and_the_details_of_the_expensive_ops(answering):
    answering([f"fusion.{i}" for i in range(100)], hlo_text="ROOT %fusion = f32[2]{0} fusion()", flops=np.nan)
    payload = build(by="program", limit=None)
    frame, _ = columns.decode(base64.b64decode(payload["table"]))
    assert list(frame["name"][:3]) == ["host", "jit_step", "fusion.0"]
    assert frame["time_ps"][2] == 100e9
    assert payload["rows_total"] == 103
    assert payload["run"] == {
        "name": "train-1",
        "path": "/runs/train-1",
        "origin": "captured",
        "hosts": ["h"],
        "devices": ["CPU:0"],
        "identity": "abc",
    }
    assert payload["params"] == {"by": "program"}
    assert list(payload["details"]) == [f"17/fusion.{i}" for i in range(60)]
    assert payload["details"]["17/fusion.0"]["occurrences"] == 3
    assert payload["details"]["17/fusion.0"]["flops"] is None


@pytest.mark.parametrize("length", [10, 200, 5_000])
@pytest.mark.parametrize("rows", [1, 300, 5_000])
def test_it_never_exceeds_its_size_in_a_saved_notebook(answering, rows, length):
    answering(
        [f"{i}" + "n" * length for i in range(rows)],
        hlo_text="x" * 100_000,
        fused=[{"name": "a" * length, "opcode": "dot"} for _ in range(1000)],
        operands=["p"] * 1000,
    )
    payload = build()
    assert len(json.dumps(payload, indent=1)) + 12 * 1000 < 1.1 * snapshot.LARGEST_PAYLOAD_BYTES
    assert len(json.dumps(payload)) <= snapshot.LARGEST_PAYLOAD_BYTES
    frame, _ = columns.decode(base64.b64decode(payload["table"]))
    assert 1 <= (frame["kind"] == "op").sum() <= 300
    assert payload["rows_total"] == rows + 3
    assert payload["details"]


def test_what_is_cut_says_so(answering):
    answering(["a"], hlo_text="x" * 5_000, operands=[f"p{i}" for i in range(30)])
    details = build()["details"]["17/a"]
    assert details["hlo_text"] == "x" * 4_000 + "… (1,000 more characters)"
    assert details["operands"][-2:] == ["p23", "… and 6 more"]


def test_a_row_without_a_program_has_no_details(answering):
    answering(["a", "b"])
    assert build()["details"] == {}


def test_details_are_asked_with_the_same_filters(answering):
    asked = answering(["a"], hlo_text="")
    build(by="category", device="CPU:0", search="a")
    assert ("op_details", {"device": "CPU:0", "program_id": "17", "op": "a"}) in asked.requests


def test_hostile_names_survive_a_notebook_file(answering):
    answering([HOSTILE], hlo_text=HOSTILE, **{HOSTILE: [HOSTILE]})
    json.dumps(build(), ensure_ascii=False, allow_nan=False).encode()


def test_an_unknown_view_is_named(answering):
    answering(["a"])
    with pytest.raises(UsageError, match="unknown view 'weather'"):
        snapshot.build(profile_data(), "weather", {})


def test_json_safe():
    value = {
        "nan": np.nan,
        "inf": float("-inf"),
        "na": pd.NA,
        "numpy": np.float32(0.5),
        "array": np.array([1.0, np.nan]),
        "flag": np.bool_(True),
        1: (None, "\ud800"),
    }
    assert snapshot.json_safe(value) == {
        "nan": None,
        "inf": None,
        "na": None,
        "numpy": 0.5,
        "array": [1.0, None],
        "flag": True,
        "1": [None, "?"],
    }


@pytest.mark.parametrize("limit", ["x", 1.5, [1], -5])
def test_a_limit_that_is_no_number_is_misuse(limit):
    with pytest.raises(UsageError, match="limit"):
        build(limit=limit)
