"""A server of a hub: behind a proxy under a prefix, users known by a cookie of the hub, several on one machine."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from jupyter_server.auth import IdentityProvider, User
from tornado import web
from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.httpserver import HTTPServer
from tornado.testing import bind_unused_port

from xprof_nb.jupyter.server.config import XprofNb
from xprof_nb.jupyter.server.service import Service
from xprof_nb.model import columns

USER = "ada"
REPO = Path(__file__).parents[3]
KEPT = ("Cookie", "X-Xsrftoken", "Content-Type", "If-None-Match")


class HubIdentity(IdentityProvider):
    """Knows a user by the cookie a hub gave out; there is no token."""

    token = ""

    def get_user(self, handler):
        name = handler.get_cookie("hub-session")
        return User(username=name) if name == USER else None

    async def _get_user(self, handler):
        return self.get_user(handler)

    @property
    def auth_enabled(self):
        return True


class Proxy(web.RequestHandler):
    """Hands on what is under the user's prefix, as a hub does; of anything else it has nothing."""

    def initialize(self, port, seen):
        self.port, self.seen = port, seen

    def check_xsrf_cookie(self):
        pass

    async def handle(self):
        self.seen.append(self.request.uri)
        headers = {name: value for name, value in self.request.headers.get_all() if name in KEPT}
        answer = await AsyncHTTPClient().fetch(
            HTTPRequest(
                f"http://127.0.0.1:{self.port}{self.request.uri}",
                method=self.request.method,
                headers={**headers, "X-Forwarded-Proto": "https", "X-Forwarded-For": "10.0.0.1"},
                body=self.request.body or None,
                allow_nonstandard_methods=True,
                request_timeout=120,
                follow_redirects=False,
            ),
            raise_error=False,
        )
        self.set_status(answer.code)
        for name in ("Content-Type", "ETag", "Content-Disposition"):
            if name in answer.headers:
                self.set_header(name, answer.headers[name])
        self.finish(answer.body or None)  # tornado takes no body with 304, not even an empty one

    get = post = patch = delete = handle

    def compute_etag(self):
        return None


@pytest.fixture
def jp_base_url():
    return f"/user/{USER}/"


@pytest.fixture
def jp_server_config(logdir):
    return {
        "ServerApp": {
            "jpserver_extensions": {"xprof_nb": True},
            "identity_provider_class": HubIdentity,
            "trust_xheaders": True,
        },
        "XprofNb": {"logdirs": [str(logdir)]},
    }


@pytest.fixture
def hub(jp_serverapp, http_server, jp_http_port, jp_asyncio_loop):
    """Return a function that asks as a browser does, through the proxy's one port, and the addresses it asked."""
    socket, port = bind_unused_port()
    seen = []
    rules = [(rf"/user/{USER}/.*", Proxy, {"port": jp_http_port, "seen": seen})]
    proxy = HTTPServer(web.Application(rules))
    proxy.add_socket(socket)

    async def call(path, method="GET", body=None, user=USER, xsrf="0" * 32, **headers):
        cookies = {"Cookie": f"hub-session={user}; _xsrf={'0' * 32}", "X-XSRFToken": xsrf}
        return await AsyncHTTPClient().fetch(
            f"http://127.0.0.1:{port}{path}",
            method=method,
            headers={**cookies, **headers},
            body=None if body is None else json.dumps(body),
            allow_nonstandard_methods=True,
            request_timeout=120,
            raise_error=False,
        )

    call.seen = seen
    yield call
    proxy.stop()


API = f"/user/{USER}/xprof-nb/api/v1"


@pytest.mark.usefixtures("stand_ins")
async def test_everything_is_under_the_users_prefix(hub, logdir):
    """No second port, no address outside the prefix."""
    told = json.loads((await hub(f"{API}/version")).body)
    assert told["api"] == 1
    listed = json.loads((await hub(f"{API}/runs")).body)
    (run,) = listed["runs"]
    answer = await hub(f"{API}/query", "POST", {"run": run["path"], "query": "echo"})
    assert answer.code == 200
    assert columns.decode(answer.body)[1]["summary"] == {"name": "train"}
    again = {"If-None-Match": answer.headers["ETag"]}
    assert (await hub(f"{API}/query", "POST", {"run": run["path"], "query": "echo"}, **again)).code == 304
    assert (await hub(f"{API}/library/bokeh")).code == 200
    assert all(address.startswith(f"/user/{USER}/") for address in hub.seen)
    assert (await hub("/xprof-nb/api/v1/version")).code == 404


@pytest.mark.usefixtures("stand_ins")
async def test_whom_the_hub_does_not_know_gets_nothing(hub, logdir):
    body = {"run": str(logdir), "query": "echo"}
    for user in ("", "eve"):
        assert (await hub(f"{API}/runs", user=user)).code == 403
        assert (await hub(f"{API}/query", "POST", body, user=user)).code == 403
        assert (await hub(f"{API}/jobs/1", "DELETE", user=user)).code == 403
    assert (await hub(f"{API}/query", "POST", body, xsrf="1" * 32)).code == 403
    assert (await hub(f"{API}/query", "POST", body)).code == 200


async def test_two_servers_of_a_machine_share_folders_and_nothing_else(tmp_path, logdir, write_run):
    """Each has its roots, its workers and its jobs; the log dir is both's, and what one changes the other sees."""
    homes = [tmp_path / "ada", tmp_path / "bob"]
    for home in homes:
        write_run(home / "logs", f"of-{home.name}")
    ada, bob = (Service(XprofNb(logdirs=[str(logdir)]), str(home)) for home in homes)
    for service in (ada, bob):
        service.watch.look().result()
    names = [{row["run"] for row in json.loads(service.watch.runs()[1])["runs"]} for service in (ada, bob)]
    assert names == [{"train", "of-ada"}, {"train", "of-bob"}]
    assert not bob.roots.holds(str(homes[0]))
    assert ada.pool is not bob.pool
    write_run(logdir, "later")
    for service in (ada, bob):
        service.watch.forget()
        service.watch.look().result()
        assert "later" in {row["run"] for row in json.loads(service.watch.runs()[1])["runs"]}


def test_the_extension_loads_without_driver_and_analysis():
    """Neither jax nor the decoder is imported where a server starts: it starts on any machine, and at once."""
    script = (
        "import sys, xprof_nb.jupyter.server; print(sorted({'jax', 'numba', 'pandas', 'xprof'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=REPO)
    assert done.stdout.strip() == "[]"
