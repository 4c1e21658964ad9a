"""What the server answers about a real capture is what the core answers."""

import json
from pathlib import Path

import pandas as pd
import pytest
from tornado.httpclient import HTTPClientError

from xprof_nb import queries, snapshot
from xprof_nb.analysis.timeline.busy import STRETCHES
from xprof_nb.model import columns
from xprof_nb.runs.opening import open_data
from xprof_nb.snapshot.thumbnail import MOST_STEPS

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


async def test_a_worker_answers_as_the_core_does(jp_fetch, cpu_profile):
    """One worker for all: a process of its own decodes and analyses."""

    async def fetch(*route, **body):
        options = {"method": "POST", "body": json.dumps(body)} if body else {}
        return await jp_fetch("xprof-nb", "api", "v1", *route, **options, request_timeout=120)

    runs = json.loads((await fetch("runs")).body)["runs"]
    (path,) = [row["path"] for row in runs if row["path"] == str(cpu_profile)]
    data = open_data(cpu_profile)
    for query, params in QUESTIONS:
        answer = await fetch("query", run=path, query=query, params=params)
        assert answer.headers["Content-Type"] == "application/octet-stream"
        frame, meta = columns.decode(answer.body)
        expected = queries.ask(data, query, params)
        through_the_codec, _ = columns.decode(columns.encode(expected.frame))
        pd.testing.assert_frame_equal(frame, through_the_codec)
        assert meta["summary"] == json.loads(json.dumps(dict(expected.summary)))
        assert meta["notes"] == list(expected.notes)
        assert len(frame) > 0

    answer = await fetch("query", run=path, query="compare", params={"other": path})
    frame, meta = columns.decode(answer.body)
    assert len(frame) > 0
    assert meta["summary"]["difference_ps"] == 0
    for other in ("/etc", "../..", str(Path(path).parents[4])):  # what may not be opened may not be compared with
        with pytest.raises(HTTPClientError):
            await fetch("query", run=path, query="compare", params={"other": other})

    answer = await fetch("snapshot", run=str(cpu_profile.parents[2]), view="op_profile", params={"by": "category"})
    assert answer.headers["Content-Type"].startswith("application/json")
    expected = snapshot.build(data, "op_profile", {"by": "category"})
    assert json.loads(answer.body) == json.loads(json.dumps(expected))

    answer = await jp_fetch("xprof-nb", "api", "v1", "thumbnail", params={"run": path}, request_timeout=120)
    drawn = json.loads(answer.body)
    assert len(drawn["busy"]) == STRETCHES
    assert all(0 <= share <= 1 for share in drawn["busy"])
    steps = queries.ask(data, "steps").frame
    assert drawn["step_time_ps"] == steps.step_time_ps[~steps.is_partial.astype(bool)].dropna()[:MOST_STEPS].tolist()
