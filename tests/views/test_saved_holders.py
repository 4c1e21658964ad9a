"""A saved view of memory says who held it at the points it has saved, as the live one does."""

from __future__ import annotations

import base64
from pathlib import Path

import pandas as pd
import pytest

import xprof_nb as xp
from xprof_nb import snapshot
from xprof_nb.model import columns

KEY = ["host", "device", "allocator"]


def decoded(packed: str) -> pd.DataFrame:
    return columns.decode(base64.b64decode(packed))[0]


@pytest.mark.parametrize("run", ["tpu-v6e-psum", "v100-tf", "mi300x-jax-conv"])
def test_holders_of_saved_points_are_those_of_the_question(run: str, corpus: Path) -> None:
    profile = xp.open(corpus / run)
    payload = snapshot.build(profile.data, "memory")
    held, points = decoded(payload["extra"]["holders"]), decoded(payload["table"])
    totals = held.groupby([*KEY, "at_ps"])["bytes"].sum()
    assert len(totals) >= min(len(points), 40)
    for (host, device, allocator, at_ps), total in list(totals.items())[:: len(totals) // 10]:
        frame = profile.ask("memory_holders", at_ps=int(at_ps)).frame
        asked = frame[(frame["allocator"] == allocator) & (frame["host"] == host)]
        saved = held[(held["at_ps"] == at_ps) & (held["allocator"] == allocator) & (held["device"] == device)]
        assert total == asked["bytes"].sum()
        assert saved["bytes"].tolist()[:6] == asked["bytes"].tolist()[:6]
        point = points[(points["start_ps"] == at_ps) & (points["allocator"] == allocator)]
        assert total in point["total_bytes"].tolist()
    assert snapshot.json_bytes(payload) <= snapshot.LARGEST_PAYLOAD_BYTES


def test_who_can_ask_gets_none(corpus: Path) -> None:
    profile = xp.open(corpus / "mi300x-jax-conv")
    assert snapshot.build_live(profile.data, "memory")["extra"] == {}
    assert snapshot.build(profile.data, "memory", {"compat": "xprof"})["extra"] == {}
