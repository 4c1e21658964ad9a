"""What a saved graph and saved buffers keep: whole fusions, the edges between, the peak of a curve, largest buffers."""

from __future__ import annotations

import base64
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import xprof_nb as xp
from tests.analysis.test_graph import fan, opened
from xprof_nb import snapshot
from xprof_nb.model import columns
from xprof_nb.model.answer import Answer
from xprof_nb.model.thinning import largest_of_stretches
from xprof_nb.snapshot import graph, tables


def decoded(text: str) -> pd.DataFrame:
    return columns.decode(base64.b64decode(text))[0]


def saved_edges(payload: dict[str, Any]) -> list[list[Any]]:
    nodes, wire = decoded(payload["table"])["node"], decoded(payload["extra"]["edges"])
    return sorted([nodes[row.source], nodes[row.target], int(row.operand)] for row in wire.itertuples())


@pytest.mark.parametrize("folder", ["tpu-v6e-psum", "mi350-te-attention", "mi300x-jax-conv"])
def test_a_saved_graph_has_every_edge_between_its_ops(folder: str, corpus: Path) -> None:
    result = xp.open(corpus / folder).graph(radius=3)
    payload = snapshot.build(result.profile.data, "graph", {"radius": 3})
    assert decoded(payload["table"])["node"].tolist() == result.frame["node"].tolist()
    assert saved_edges(payload) == sorted(edge[:3] for edge in result.summary["edges"])
    assert payload["summary"]["edges"] == []


def test_the_graph_of_a_very_large_program_stays_small(tmp_path: Path) -> None:
    profile = opened(tmp_path, fan(3000))
    payload = snapshot.build(profile.data, "graph", {"op": "main"})
    assert snapshot.json_bytes(payload) <= snapshot.LARGEST_PAYLOAD_BYTES
    kept = decoded(payload["table"])
    assert 100 < len(kept) <= 500
    names = set(kept["node"])
    whole = profile.graph(op="main").summary["edges"]
    assert saved_edges(payload) == sorted(edge[:3] for edge in whole if {edge[0], edge[1]} <= names)


def test_fusions_are_kept_whole_or_not_at_all() -> None:
    inside = [None, None, "f", "f", "f", None, "g", None]
    nodes = ["f", "g", "f1", "f2", "f3", "a", "g1", "b"]
    frame = pd.DataFrame({"node": nodes, "inside": pd.Series(inside, dtype=object)})
    kept = {rows: graph.nearest(frame, rows)["node"].tolist() for rows in (2, 4, 6, 7, 8)}
    assert kept == {
        2: ["f", "g"],
        4: ["f", "g", "a", "b"],
        6: ["f", "g", "a", "g1", "b"],
        7: ["f", "g", "f1", "f2", "f3", "a", "b"],
        8: nodes,
    }


def test_edges_are_halved_until_they_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = [f"n{number}" for number in range(400)]
    edges = [[one, other, 0, ""] for one, other in pairwise(nodes)]
    answer = Answer(pd.DataFrame({"node": nodes}), {"edges": edges})
    assert len(decoded(graph.edges(answer, answer.frame))) == 399
    monkeypatch.setattr(graph, "LARGEST_EDGES_BYTES", 3000)
    assert len(decoded(graph.edges(answer, answer.frame))) == 399 // 2 // 2


def test_a_thinned_curve_keeps_its_peak() -> None:
    curve = [{"position": number, "live_bytes": (number * 37) % 1009} for number in range(1000)]
    for most in (1, 7, 250, 999):
        thin = largest_of_stretches(curve, "live_bytes", most)
        assert len(thin) == most
        assert max(point["live_bytes"] for point in thin) == max(point["live_bytes"] for point in curve)
        assert [point["position"] for point in thin] == sorted(point["position"] for point in thin)
    assert largest_of_stretches(curve, "live_bytes", 1000) == curve


def test_the_summary_of_buffers_is_thinned_not_cut() -> None:
    curve = [{"position": n, "op": "o" * 200, "live_bytes": 10 + n} for n in range(500)]
    found = tables.fitting_summary("buffers", {"curve": curve, "peak_bytes": 509})
    assert len(json.dumps(found)) < tables.LARGEST_SUMMARY_BYTES
    assert 24 <= len(found["curve"]) < 500
    assert found["curve"][-1] == curve[-1]


def test_saved_buffers_are_those_of_the_peak_before_others(corpus: Path) -> None:
    frame = xp.open(corpus / "mi350-te-attention").buffers().frame
    live = int(frame["live_at_peak"].sum())
    kept = tables.PICKS["buffers"](frame, live)
    assert kept["live_at_peak"].all()
    assert kept["bytes"].is_monotonic_decreasing
    assert tables.PICKS["buffers"](frame, len(frame)).equals(frame)
