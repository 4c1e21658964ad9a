"""What a browser does with runs is done to their files, and to nothing else."""

from __future__ import annotations

import io
import json
import sys
import zipfile
from types import ModuleType
from urllib.parse import quote

import pytest
from tornado.httpclient import HTTPClientError

from tests.jupyter.server.test_routes import OUTSIDE
from xprof_nb.runs import sidecar
from xprof_nb.runs.sidecar import Sidecar

pytestmark = pytest.mark.usefixtures("stand_ins")


@pytest.fixture
def run(logdir):
    """Return the folder of a run that a capture of ours made."""
    folder = logdir / "plugins" / "profile" / "train"
    sidecar.write(folder, Sidecar(name="train", origin="captured"))
    return folder


@pytest.fixture
def send(jp_fetch):
    """Return a function that sends a request and returns status, headers and body."""

    async def call(method, route, body=None, raw=None, headers=None, **params):
        content = {} if body is None and raw is None else {"body": json.dumps(body) if raw is None else raw}
        try:
            answer = await jp_fetch(
                *("xprof-nb", "api", "v1", *route.split("/")),
                method=method,
                params=params,
                headers=headers or {},
                **content,
            )
        except HTTPClientError as refused:
            answer = refused.response
        told = answer.headers.get("Content-Type", "").startswith("application/json")
        return answer.code, answer.headers, json.loads(answer.body) if told else answer.body

    return call


async def listed(send):
    return {row["run"]: row for row in (await send("GET", "runs"))[2]["runs"]}


async def test_a_run_is_noted_tagged_and_renamed(send, run, logdir):
    change = {"run": str(run), "name": "größer", "note": "a\nb", "tags": ["x", "y", "x"]}
    status, _, told = await send("PATCH", "run", change)
    assert (status, told) == (200, {"run": "größer", "path": str(run.parent / "größer")})
    row = (await listed(send))["größer"]
    assert (row["note"], row["tags"], row["path"]) == ("a\nb", ["x", "y"], told["path"])
    assert (await send("PATCH", "run", {"run": told["path"], "tags": []}))[0] == 200
    assert (await listed(send))["größer"]["tags"] == []


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"name": "../evil"}, 400),
        ({"name": ""}, 400),
        ({"name": "x" * 300}, 400),
        ({"tags": [3]}, 400),
        ({"tags": "x"}, 400),
        ({"tags": ["a\nb"]}, 400),
        ({"note": "x" * 8000, "more": 1}, 400),
    ],
)
async def test_what_cannot_be_said_of_a_run_is_refused(send, run, change, status):
    assert (await send("PATCH", "run", {"run": str(run), **change}))[0] == status
    assert run.is_dir()


async def test_a_run_goes_to_the_trash_and_comes_back(send, run):
    status, _, told = await send("POST", "trash", {"runs": [str(run)]})
    assert status == 200
    assert not run.exists()
    assert "train" not in await listed(send)
    (trashed,) = told["trashed"]
    status, _, told = await send("POST", "restore", {"trash": [trashed["trash"]]})
    assert (status, told) == (200, {"runs": [str(run)]})
    assert (run / "host0.xplane.pb").read_bytes() == b"profile"
    assert "train" in await listed(send)
    assert (await send("POST", "restore", {"trash": [trashed["trash"]]}))[0] == 404


async def test_only_what_is_in_a_trash_comes_back(send, run):
    status, _, told = await send("POST", "restore", {"trash": [str(run)]})
    assert (status, told["error"]["kind"]) == (400, "UsageError")


async def test_one_bad_name_and_nothing_is_thrown_away(send, run):
    assert (await send("POST", "trash", {"runs": [str(run), "nothing"]}))[0] == 404
    assert run.is_dir()


async def test_a_folder_that_is_no_run_of_a_log_dir_stays(send, jp_root_dir):
    loose = jp_root_dir / "loose"
    loose.mkdir()
    (loose / "host0.xplane.pb").write_bytes(b"profile")
    status, _, told = await send("POST", "trash", {"runs": ["loose"]})
    assert (status, told["error"]["kind"]) == (400, "UsageError")
    assert loose.is_dir()


async def test_a_run_leaves_as_a_zip_and_comes_in_again(send, run, jp_root_dir, write_run):
    status, headers, body = await send("GET", "export", run=str(run))
    assert (status, headers["Content-Type"]) == (200, "application/zip")
    assert headers["Content-Disposition"] == "attachment; filename*=UTF-8''train.zip"
    assert sorted(zipfile.ZipFile(io.BytesIO(body)).namelist()) == ["train/host0.xplane.pb", "train/xprof-nb.json"]
    # What is only called a profile is taken for damage.
    status, _, told = await send("POST", "import", raw=body, logdir="logs")
    assert (status, told["error"]["kind"]) == (422, "NotAProfileError")


async def test_a_whole_profile_is_taken_in(send, cpu_profile, jp_root_dir):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as sink:
        for file in cpu_profile.glob("*.xplane.pb"):
            sink.write(file, f"mine/{file.name}")
    status, _, told = await send("POST", "import", raw=packed.getvalue(), logdir="logs")
    assert (status, told["run"]) == (200, str(jp_root_dir.resolve() / "logs" / "plugins" / "profile" / "mine"))
    assert "mine" in await listed(send)


@pytest.mark.parametrize("body", [b"", b"no zip", b"PK\x03\x04" + b"\0" * 100])
async def test_what_is_no_zip_is_not_taken_in(send, body, jp_root_dir):
    status, _, told = await send("POST", "import", raw=body, logdir="logs")
    assert status == 422
    assert told["error"]["hint"]
    assert list(jp_root_dir.glob("logs/plugins/profile/*")) == []


@pytest.mark.parametrize("path", OUTSIDE)
async def test_nothing_outside_the_roots_is_changed_or_sent(send, secret, path):
    body = {"run": path, "note": "n"}
    assert (await send("PATCH", "run", body))[0] == 403
    assert (await send("POST", "trash", {"runs": [path]}))[0] == 403
    assert (await send("POST", "restore", {"trash": [path]}))[0] == 403
    if "\0" not in path and len(path) < 3000:
        assert (await send("GET", "export", run=path))[0] == 403
        assert (await send("GET", "thumbnail", run=path))[0] == 403
        assert (await send("POST", "import", raw=b"x", logdir=path))[0] == 403
    assert (secret / "plugins" / "profile" / "secret").is_dir()


@pytest.mark.parametrize("route", ["export", "thumbnail"])
async def test_a_run_that_is_not_named_once_is_the_askers_fault(jp_fetch, route):
    for query in ("", "?run=a&run=b", "?run=%ff"):
        with pytest.raises(HTTPClientError) as refused:
            await jp_fetch("xprof-nb", "api", "v1", route + query)
        assert refused.value.code in {400, 404}


async def test_who_may_only_read_changes_nothing(send, run, jp_serverapp, monkeypatch):
    monkeypatch.setattr(jp_serverapp.authorizer, "is_authorized", lambda _h, _user, action, _resource: action == "read")
    assert (await send("PATCH", "run", {"run": str(run), "note": "n"}))[0] == 403
    assert (await send("POST", "trash", {"runs": [str(run)]}))[0] == 403
    assert (await send("POST", "restore", {"trash": ["x"]}))[0] == 403
    assert (await send("POST", "import", raw=b"x", logdir="."))[0] == 403
    assert (await send("GET", "export", run=str(run)))[0] == 200


async def test_answers_are_sent_once(send, run):
    body = {"run": str(run), "query": "echo"}
    _, headers, _ = await send("POST", "query", body)
    known = {"If-None-Match": headers["ETag"]}
    assert (await send("POST", "query", body, headers=known))[0] == 304
    assert (await send("POST", "query", {**body, "params": {"text": "x"}}, headers=known))[0] == 200
    await send("PATCH", "run", {"run": str(run), "note": "changed"})
    assert (await send("POST", "query", body, headers=known))[0] == 200


async def test_the_list_is_sent_when_it_has_changed(send, run):
    _, headers, _ = await send("GET", "runs")
    known = {"If-None-Match": headers["ETag"]}
    assert (await send("GET", "runs", headers=known))[0] == 304
    await send("PATCH", "run", {"run": str(run), "note": quote("new")})
    assert (await send("GET", "runs", headers=known))[0] == 200


async def test_a_thumbnails_tag_is_that_of_the_worker(send, run, monkeypatch):
    module = ModuleType("xprof_nb.snapshot.thumbnail")
    module.thumbnail = lambda _profile: {"busy": [0.5], "step_time_ps": None}
    monkeypatch.setitem(sys.modules, module.__name__, module)
    _, headers, drawn = await send("GET", "thumbnail", run=str(run))
    assert drawn == {"busy": [0.5], "step_time_ps": None}
    module.thumbnail = None  # a client that has the answer costs none
    assert (await send("GET", "thumbnail", run=str(run), headers={"If-None-Match": headers["ETag"]}))[0] == 304
