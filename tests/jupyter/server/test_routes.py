import json
import re
from pathlib import Path

import pytest
from tornado.httpclient import HTTPClientError

import xprof_nb
from xprof_nb import assets
from xprof_nb.jupyter.server.routes import HANDLERS
from xprof_nb.model import columns

pytestmark = pytest.mark.usefixtures("stand_ins")
ROUTES = [
    ("GET", "version"),
    ("GET", "runs"),
    ("PATCH", "run"),
    ("POST", "trash"),
    ("POST", "restore"),
    ("GET", "export"),
    ("POST", "import"),
    ("POST", "query"),
    ("POST", "snapshot"),
    ("GET", "thumbnail"),
    ("GET", "library/bokeh"),
    ("GET", "jobs"),
    ("DELETE", "jobs/1"),
]
BODIES = {
    "run": {"run": ".", "note": "n"},
    "trash": {"runs": ["."]},
    "restore": {"trash": ["."]},
    "import": {},
    "query": {"run": ".", "query": "echo"},
    "snapshot": {"run": ".", "view": "op_profile"},
}


@pytest.fixture
def ask(jp_fetch):
    """Return a function that calls a route and returns status, and body: JSON where it is, else bytes."""

    async def call(route, body=None, raw=None, **options):
        if body is not None or raw is not None:
            options = {"method": "POST", **options, "body": json.dumps(body) if raw is None else raw}
        try:
            answer = await jp_fetch("xprof-nb", "api", "v1", *route.split("/"), **options)
        except HTTPClientError as refused:
            answer = refused.response
        is_json = answer.headers.get("Content-Type", "").startswith("application/json")
        return answer.code, json.loads(answer.body) if is_json else answer.body

    return call


async def test_version(ask):
    status, told = await ask("version")
    assert (status, told["version"], told["api"]) == (200, xprof_nb.__version__, 1)
    assert set(told["capabilities"]) == {"jobs", "manage", "thumbnails", "transfer"}


async def test_runs_of_every_root_once(ask, jp_root_dir, logdir, write_run):
    write_run(jp_root_dir / "deep" / "xprof-logs", "beside-a-notebook")
    (jp_root_dir / "link").symlink_to(logdir)
    status, found = await ask("runs")
    assert status == 200
    assert {row["run"] for row in found["runs"]} == {"train", "beside-a-notebook"}
    assert len(found["runs"]) == 2
    assert found["roots"] == [str(logdir), str(jp_root_dir.resolve())]
    assert found["truncated"] is False
    row = next(row for row in found["runs"] if row["run"] == "train")
    assert row == {
        "run": "train",
        "path": str(logdir / "plugins" / "profile" / "train"),
        "logdir": str(logdir),
        "started": row["started"],
        "duration_s": None,
        "host_count": 1,
        "bytes": 7,
        "origin": "opened",
        "device": None,
        "note": "",
        "tags": [],
        "hosts": ["host0"],
    }


async def test_query_answers_in_columns(ask, logdir):
    run = str(logdir / "plugins" / "profile" / "train")
    status, body = await ask("query", {"run": run, "query": "echo", "params": {"text": "größer"}})
    assert status == 200
    frame, meta = columns.decode(body)
    assert (frame.path[0], frame.text[0]) == (run, "größer")
    assert meta == {"summary": {"name": "train"}, "notes": ["a note"]}


async def test_libraries_come_from_installed_packages(ask):
    status, body = await ask("library/bokeh")
    assert (status, body) == (200, assets.library("bokeh").encode())
    assert (await ask("library/other"))[0] == 400
    assert (await ask("library/..%2fbokeh"))[0] == 404


@pytest.mark.parametrize(("params", "limit"), [({}, 100_000), ({"limit": 7}, 7)])
async def test_millions_of_events_do_not_cross(ask, logdir, params, limit):
    _, body = await ask("query", {"run": str(logdir), "query": "events", "params": params})
    assert columns.decode(body)[0]["limit"].tolist() == [limit]


@pytest.mark.parametrize("level", ["", "logs", "logs/plugins", "logs/plugins/profile/r/host0.xplane.pb"])
async def test_relative_paths_count_from_the_root_folder(ask, jp_root_dir, level, write_run):
    write_run(jp_root_dir / "logs", "r")
    status, body = await ask("snapshot", {"run": level or ".", "view": "op_profile", "params": {"by": "program"}})
    assert (status, body["run"], body["view"], body["params"]) == (200, {"name": "r"}, "op_profile", {"by": "program"})


@pytest.mark.parametrize(("method", "route"), ROUTES)
async def test_no_token_no_answer(ask, method, route):
    options = {"method": method, "headers": {"Authorization": "token wrong"}}
    status, body = await ask(route, BODIES.get(route), **options)
    assert status == 403
    assert body["error"]["kind"] == "HTTPError"


def test_every_route_is_in_the_tests_of_this_file():
    assert [pattern for pattern in HANDLERS if not any(re.fullmatch(pattern, route) for _, route in ROUTES)] == []


async def session_cookies(jp_fetch, jp_serverapp):
    """Return the cookies of a browser that once came in with the token, and then was shown a page."""
    token = jp_serverapp.identity_provider.token
    page = await jp_fetch("api", "status", params={"token": token}, headers={"Authorization": ""})
    pairs = [header.partition(";")[0].partition("=") for header in page.headers.get_list("Set-Cookie")]
    return {**{name: value for name, _, value in pairs}, "_xsrf": "0123456789abcdef" * 2}


@pytest.mark.parametrize(("method", "route"), [(method, route) for method, route in ROUTES if method != "GET"])
async def test_a_browser_session_needs_its_xsrf_header(ask, jp_fetch, jp_serverapp, method, route):
    cookies = await session_cookies(jp_fetch, jp_serverapp)
    session = {"Authorization": "", "Cookie": "; ".join(f"{key}={value}" for key, value in cookies.items())}

    async def send(**headers):
        return (await ask(route, BODIES.get(route), method=method, headers={**session, **headers}))[0]

    assert await send() == 403
    assert await send(**{"X-XSRFToken": "fedcba9876543210" * 2}) == 403
    assert await send(**{"X-XSRFToken": cookies["_xsrf"]}) in {200, 400, 404}


OUTSIDE = [
    "/etc",
    "/etc/passwd",
    "..",
    "../elsewhere-secret",
    "logs/../../elsewhere-secret",
    r"..\elsewhere-secret",
    "logs/%2e%2e/%2e%2e/elsewhere-secret",
    "%2e%2e%2felsewhere-secret",
    "%252e%252e%252felsewhere-secret",
    "..%5celsewhere-secret",
    "logs\0/etc",
    "logs%00",
    "file:///etc",
    "memory://bucket",
    "gs://bucket/logs",
    "link-out",
    "link-out/plugins/profile/secret",
    "a" * 5000,
    "",
]


@pytest.mark.parametrize("route", ["query", "snapshot"])
@pytest.mark.parametrize("path", OUTSIDE)
async def test_paths_outside_every_root_are_refused(ask, secret, route, path):
    body = {"run": path, "query": "echo"} if route == "query" else {"run": path, "view": "op_profile"}
    status, answer = await ask(route, body)
    assert status == 403
    assert answer["error"]["kind"] == "ForbiddenPathError"
    assert "c.XprofNb.logdirs" in answer["error"]["hint"]


async def test_a_tilde_is_a_name_like_any_other(ask):
    assert (await ask("query", {"run": "~/.ssh", "query": "echo"}))[0] == 404


async def test_an_absolute_path_outside_is_refused_whether_it_exists_or_not(ask, secret):
    answers = [await ask("query", {"run": str(path), "query": "echo"}) for path in (secret, secret / "no")]
    assert [status for status, _ in answers] == [403, 403]


async def test_a_root_is_no_prefix(ask, logdir, write_run):
    write_run(Path(f"{logdir}-2"), "secret")
    assert (await ask("query", {"run": f"{logdir}-2", "query": "echo"}))[0] == 403


async def test_a_run_whose_file_links_outside_is_refused(ask, jp_root_dir, secret):
    folder = jp_root_dir / "logs" / "plugins" / "profile" / "r"
    folder.mkdir(parents=True)
    (folder / "host0.xplane.pb").symlink_to(secret / "plugins" / "profile" / "secret" / "host0.xplane.pb")
    assert (await ask("query", {"run": "logs", "query": "echo"}))[0] == 403


async def test_runs_behind_links_out_of_the_roots_are_neither_listed_nor_chosen(ask, secret):
    _, found = await ask("runs")
    assert [row["run"] for row in found["runs"]] == ["train"]
    assert (await ask("query", {"run": ".", "query": "echo"}))[0] == 404


MALFORMED = [
    ("", "not JSON"),
    ("{", "not JSON"),
    ("[]", "not a JSON object"),
    ("null", "not a JSON object"),
    ('"run"', "not a JSON object"),
    ("{}", "needs 'run'"),
    ('{"run": "."}', "needs 'query'"),
    ('{"run": 3, "query": "echo"}', "needs 'run'"),
    ('{"run": null, "query": "echo"}', "needs 'run'"),
    ('{"run": ".", "query": ["echo"]}', "needs 'query'"),
    ('{"run": ".", "query": "echo", "params": []}', "'params' must be an object"),
    ('{"run": ".", "query": "echo", "param": {}}', "unknown key 'param'"),
    ('{"run": ".", "query": "echo", "params": {"text": NaN}}', "not JSON"),
    ('{"run": ' + "[" * 4000, "not JSON"),
    (b"\xff\xfe\xfd", "not JSON"),
]


@pytest.mark.parametrize(("raw", "said"), MALFORMED)
async def test_malformed_bodies_are_the_askers_fault(ask, raw, said):
    status, body = await ask("query", raw=raw)
    assert status == 400
    assert body["error"]["kind"] == "UsageError"
    assert said in body["error"]["message"]


@pytest.mark.parametrize("route", ["query", "snapshot"])
async def test_a_large_body_is_refused(ask, route):
    status, body = await ask(route, {"run": ".", "query": "echo", "view": "v", "params": {"text": "x" * 9000}})
    assert status == 413
    assert "8,192 bytes" in body["error"]["message"]


async def test_failures_carry_kind_message_and_hint(ask, logdir, jp_root_dir, write_run):
    write_run(jp_root_dir / "bad", "r", content=b"pro")

    async def failure(**body):
        status, answer = await ask("query", {"run": str(logdir), "query": "echo", **body})
        return status, answer["error"]

    status, error = await failure(query="nonsense")
    assert (status, error["kind"], error["message"]) == (400, "UsageError", "unknown question 'nonsense'")
    assert "echo" in error["hint"]
    status, error = await failure(params={"nonsense": 1})
    assert (status, error["kind"]) == (400, "UsageError")
    status, error = await failure(run="nothing")
    assert (status, error["kind"]) == (404, "NotFoundError")
    status, error = await failure(params={"fail": "profile"})
    assert (status, error) == (
        422,
        {"kind": "ProfileError", "message": "there is no step in this profile", "hint": "Annotate steps."},
    )
    status, error = await failure(run="bad")
    assert (status, error["kind"], error["hint"]) == (422, "DamagedFileError", "Copy it again.")
    assert error["message"].startswith("cut short in ")
    assert error["message"].endswith(" at byte 3")
    status, error = await failure(params={"fail": "bug"})
    assert (status, error["kind"]) == (500, "InternalError")
    assert "secret detail" not in json.dumps(error)


async def test_what_is_not_there_is_json_too(ask):
    status, body = await ask("query")
    assert (status, body["error"]["kind"]) == (405, "HTTPError")


async def test_a_changed_file_is_read_again(ask, logdir):
    body = {"run": str(logdir), "query": "echo"}
    assert (await ask("query", body))[0] == 200
    file = logdir / "plugins" / "profile" / "train" / "host0.xplane.pb"
    file.write_bytes(b"foreign")
    assert (await ask("query", body))[0] == 422


async def test_a_path_no_file_system_can_write_is_refused(ask):
    status, body = await ask("query", {"run": "\ud800", "query": "echo"})
    assert (status, body["error"]["kind"]) == (403, "ForbiddenPathError")


async def test_who_may_only_read_may_not_change_a_runs_markers(ask, logdir, jp_serverapp, monkeypatch, stand_ins):
    monkeypatch.setattr(jp_serverapp.authorizer, "is_authorized", lambda _h, _user, action, _resource: action == "read")
    body = {"run": str(logdir), "query": "echo"}
    assert (await ask("query", body))[0] == 200
    marks = {"run": str(logdir), "query": "trace_marks"}
    assert (await ask("query", {**marks, "params": {"markers": []}}))[0] == 403
    assert (await ask("query", marks))[0] != 403
