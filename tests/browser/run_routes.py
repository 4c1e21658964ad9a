"""The routes that change runs, answered in this process: what the panel sends is done to the files."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from xprof_nb import __version__
from xprof_nb.runs import archive, manage


def answer_in_process(page, logdir: Path) -> None:
    """Answer the panel's requests for the runs of a log dir."""

    def change(route):
        body = route.request.post_data_json
        folder = Path(body["run"])
        if "note" in body:
            manage.annotate(folder, body["note"])
        if "tags" in body:
            manage.retag(folder, body["tags"], set(_tags(folder)) - set(body["tags"]))
        if "name" in body:
            manage.rename(folder, body["name"])
        route.fulfill(json={})

    def discard(route):
        runs = route.request.post_data_json["runs"]
        trashed = [{"run": run, "trash": str(manage.discard(Path(run)))} for run in runs]
        route.fulfill(json={"trashed": trashed})

    def restore(route):
        names = [Path(trash).name for trash in route.request.post_data_json["trash"]]
        route.fulfill(json={"runs": [str(manage.restore(name, logdir)) for name in names]})

    def export(route):
        (run,) = parse_qs(urlsplit(route.request.url).query)["run"]
        zipped = logdir.parent / "export.zip"
        archive.export(Path(run), zipped)
        headers = {"Content-Type": "application/zip", "Content-Disposition": "attachment"}
        route.fulfill(body=zipped.read_bytes(), headers=headers)
        zipped.unlink()

    def take_in(route):
        zipped = logdir.parent / "import.zip"
        zipped.write_bytes(route.request.post_data_buffer)
        route.fulfill(json={"run": str(archive.take_in(zipped, logdir))})
        zipped.unlink()

    def thumbnail(route):
        route.fulfill(json={"busy": [0.75, 0.5, 0.25, None], "step_time_ps": [2e9, 1e9, 3e9]})

    def version(route):
        route.fulfill(json={"version": __version__, "api": 1, "capabilities": ["runs", "jobs"]})

    answers = {
        "version": version,
        "jobs": lambda route: route.fulfill(json={"jobs": []}),
        "thumbnail": thumbnail,
        "run": change,
        "trash": discard,
        "restore": restore,
        "export": export,
        "import": take_in,
    }
    for name, answer in answers.items():
        page.route(re.compile(rf"/xprof-nb/api/v1/{name}(\?|$)"), answer)


def _tags(folder: Path) -> list[str]:
    return json.loads((folder / "xprof-nb.json").read_text()).get("tags", [])
