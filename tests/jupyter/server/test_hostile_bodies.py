"""Whatever a client sends, it is told what is wrong; nothing fails inside, nothing outside the roots is named."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tornado.httpclient import HTTPClientError

from tests.jupyter.server.test_routes import BODIES

pytestmark = pytest.mark.usefixtures("stand_ins")
EXPECTED = {200, 304, 400, 403, 404, 413, 422}
BODY_ROUTES = [(route, "PATCH" if route == "run" else "POST") for route in BODIES if route != "import"]
PARTS = st.sampled_from(
    ["..", ".", "%2e%2e", "%252e", "/", "\\", "%2f", "%5c", "\0", "%00", "link-out", "plugins", "train"]
)
PATHS = st.lists(PARTS | st.text(max_size=8), max_size=12).map("".join) | st.text(max_size=40)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | PATHS
VALUES = st.recursive(SCALARS, lambda more: st.lists(more, max_size=4) | st.dictionaries(st.text(max_size=8), more))
KEYS = st.sampled_from(["run", "runs", "trash", "query", "view", "params", "name", "note", "tags", "more"])
BODY = st.dictionaries(KEYS, VALUES, max_size=6).map(json.dumps) | st.binary(max_size=200) | VALUES.map(json.dumps)
QUICK = settings(
    max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture
def told(jp_fetch, jp_asyncio_loop):
    """Return a function that sends a body and returns the status and what is said."""

    def send(route, method, body, **params):
        async def call():
            try:
                return await jp_fetch("xprof-nb", "api", "v1", route, method=method, body=body, params=params)
            except HTTPClientError as refused:
                return refused.response

        return jp_asyncio_loop.run_until_complete(call())

    return send


def said(answer):
    """Return the kind of an error that says what it has to."""
    error = json.loads(answer.body)["error"]
    assert set(error) == {"kind", "message", "hint"}
    assert error["message"]
    assert "Traceback" not in error["message"]
    return error["kind"]


@pytest.mark.parametrize(("route", "method"), BODY_ROUTES)
def test_a_body_nobody_meant_is_the_askers_fault(told, logdir, route, method):
    @QUICK
    @given(BODY)
    def check(body):
        answer = told(route, method, body)
        assert answer.code in EXPECTED, answer.body
        if answer.code >= 400:
            assert said(answer) != "InternalError"

    check()
    assert (logdir / "plugins" / "profile" / "train" / "host0.xplane.pb").read_bytes() == b"profile"


@pytest.mark.parametrize(("route", "method"), BODY_ROUTES)
def test_no_path_leads_out(told, secret, route, method):
    """A run outside the roots would be answered with its name, ``secret``."""

    @QUICK
    @given(PATHS)
    def check(path):
        body = {key: [path] if isinstance(value, list) else value for key, value in BODIES[route].items()}
        body = {**body, "run": path} if "run" in body else body
        answer = told(route, method, json.dumps(body))
        assert answer.code in EXPECTED, answer.body
        if answer.code >= 400:
            assert said(answer) != "InternalError"
        else:
            assert b"elsewhere-secret" not in answer.body

    check()
    assert (secret / "plugins" / "profile" / "secret" / "host0.xplane.pb").read_bytes() == b"profile"


@pytest.mark.parametrize(("route", "method"), BODY_ROUTES)
def test_a_large_body_is_refused_by_every_route(told, route, method):
    answer = told(route, method, json.dumps({**BODIES[route], "note": "x" * 9000}))
    assert answer.code == 413
    assert said(answer) == "HTTPError"


def test_a_large_zip_is_refused(told, jp_serverapp, jp_root_dir):
    """What comes in is bounded where it comes in, not when all of it is there."""
    (service,) = (rule.target_kwargs["service"] for rule in import_rules(jp_serverapp))
    service.settings.import_bytes = 1024
    with pytest.raises((HTTPClientError, OSError, AssertionError)):
        assert told("import", "POST", b"x" * 5000, logdir=".").code == 200
    assert list(jp_root_dir.glob("plugins")) == []


def import_rules(app):
    for group in app.web_app.default_router.rules:
        for rule in getattr(group.target, "rules", []):
            if rule.matcher.regex.pattern.endswith("/import$"):
                yield rule


def test_a_number_too_large_for_json_is_no_number(told):
    answer = told("snapshot", "POST", '{"run": ".", "view": "v", "params": {"x": 1e999}}')
    assert answer.code == 400
    assert said(answer) == "UsageError"
    assert b"1e999" in answer.body
