"""Every address the server extension answers at asks who is there."""

import re

import pytest
from tornado.httpclient import HTTPClientError
from tornado.web import RequestHandler

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")


@pytest.fixture
def jp_server_config():
    return {"ServerApp": {"jpserver_extensions": {"xprof_nb": True}}}


def registered(app):
    """Yield (path under the base URL, method) of everything the extension added."""
    rules = [rule for group in app.wildcard_router.rules + app.default_router.rules for rule in _flat(group)]
    base = app.settings["base_url"]
    for rule in rules:
        pattern = rule.matcher.regex.pattern if hasattr(rule.matcher, "regex") else ""
        if "xprof-nb" in pattern:
            path = re.sub(r"\([^)]*\)", "x", pattern).rstrip("$").replace("\\", "").removeprefix(base)
            for method in METHODS:
                if getattr(rule.target, method.lower()) is not getattr(RequestHandler, method.lower()):
                    yield path, method


def _flat(rule):
    inner = getattr(rule.target, "rules", None)
    return [rule] if inner is None else [found for below in inner for found in _flat(below)]


async def test_nothing_answers_without_a_token(jp_fetch, jp_serverapp):
    doors = sorted(set(registered(jp_serverapp.web_app)))
    assert {path.rpartition("/")[2] for path, _ in doors} >= {"version", "runs", "query", "snapshot"}
    for path, method in doors:
        body = "{}" if method in ("POST", "PUT", "PATCH") else None
        with pytest.raises(HTTPClientError) as refused:
            await jp_fetch(*path.split("/"), method=method, body=body, headers={"Authorization": ""})
        assert refused.value.code in (401, 403), (path, method)
