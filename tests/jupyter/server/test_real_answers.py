"""What the server answers about a real capture is what the core answers."""

import json

import pandas as pd
import pytest

from xprof_nb import queries, snapshot
from xprof_nb.model import columns
from xprof_nb.runs.opening import open_data

QUESTIONS = [
    ("ops", {}),
    ("op_profile", {"by": "program"}),
    ("op_profile", {"by": "category", "limit": 5}),
    ("op_profile", {"by": "source"}),
    ("overview", {}),
    ("steps", {}),
]


@pytest.fixture
def jp_server_config(cpu_profile):
    logdir = str(cpu_profile.parents[2])
    return {"ServerApp": {"jpserver_extensions": {"xprof_nb": True}}, "XprofNb": {"logdirs": [logdir]}}


@pytest.mark.parametrize(("query", "params"), QUESTIONS)
async def test_a_query_is_answered_as_the_core_answers_it(jp_fetch, cpu_profile, query, params):
    body = json.dumps({"run": str(cpu_profile), "query": query, "params": params})
    answer = await jp_fetch("xprof-nb", "api", "v1", "query", method="POST", body=body)
    assert answer.headers["Content-Type"] == "application/octet-stream"
    frame, meta = columns.decode(answer.body)
    expected = queries.ask(open_data(cpu_profile), query, params)
    through_the_codec, _ = columns.decode(columns.encode(expected.frame))
    pd.testing.assert_frame_equal(frame, through_the_codec)
    assert meta["summary"] == json.loads(json.dumps(dict(expected.summary)))
    assert meta["notes"] == list(expected.notes)
    assert len(frame) > 0


async def test_a_snapshot_is_what_a_notebook_would_hold(jp_fetch, cpu_profile):
    body = json.dumps({"run": str(cpu_profile.parents[2]), "view": "op_profile", "params": {"by": "category"}})
    answer = await jp_fetch("xprof-nb", "api", "v1", "snapshot", method="POST", body=body)
    assert answer.headers["Content-Type"].startswith("application/json")
    expected = snapshot.build(open_data(cpu_profile), "op_profile", {"by": "category"})
    assert json.loads(answer.body) == json.loads(json.dumps(expected))


async def test_the_list_of_runs_opens(jp_fetch, cpu_profile):
    runs = json.loads((await jp_fetch("xprof-nb", "api", "v1", "runs")).body)["runs"]
    (path,) = [row["path"] for row in runs if row["path"] == str(cpu_profile)]
    body = json.dumps({"run": path, "query": "overview"})
    assert (await jp_fetch("xprof-nb", "api", "v1", "query", method="POST", body=body)).code == 200
