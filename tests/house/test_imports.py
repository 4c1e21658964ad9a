"""Who may import whom."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.house.tree import PACKAGE, REPO, files

# room -> the rooms it may import; those after "|" only inside a function or for type checking, which breaks a circle
# or keeps an import cheap. A room without an entry may not exist.
ROOMS = {
    "": "| api errors memory jupyter",
    "errors": "",
    "model": "errors model",
    "formats": "errors model formats",
    "analysis": "errors model formats analysis",
    "params": "errors model",
    "queries": "errors model formats analysis params | runs",
    "assets": "errors",
    "snapshot": "errors model analysis params queries snapshot",
    "runs": "errors model formats runs",
    "capture": "errors model formats runs capture | api memory",
    "views": "errors model formats analysis queries assets snapshot views | api",
    "memory": "errors model capture | views",
    "result": "errors model queries | api trace views",
    "trace": "model result | analysis",
    "api": "errors model params queries result runs | capture trace",
    "tuning": "errors model runs capture tuning | api views",
    "args": "errors model args",
    "doctor": "errors model runs capture doctor",
    "verbs": "errors model args api result runs views",
    "verbs_runs": "errors model args runs",
    "verbs_remote": "args api",
    "cli": "errors model args api doctor verbs verbs_remote verbs_runs runs",
    "jupyter": "errors assets model formats args api result doctor memory verbs verbs_remote verbs_runs runs capture "
    "jupyter | tuning views",
    "jupyter.server": "errors model assets runs jupyter.server | formats queries snapshot",
}
INTERFACES = {"IPython", "anywidget", "bokeh", "ipywidgets", "jupyter_server", "jupyterlab", "tornado"}
RUNTIMES = {"jax", "jaxlib", "tensorboard", "tensorflow", "torch", "xprof"}
CORE = ("errors", "model", "formats", "analysis", "params", "queries", "assets", "snapshot", "runs")
# room -> the packages it never imports, not even inside a function
NEVER = {
    **dict.fromkeys(CORE, INTERFACES | RUNTIMES),
    "views": {"jupyter_server", "tornado"} | RUNTIMES,
    "jupyter.server": (INTERFACES - {"jupyter_server", "tornado"}) | RUNTIMES,
}
MAY_USE_JAX = {"capture", "tuning", "doctor"}


@dataclass(frozen=True)
class Import:
    source: str
    line: int
    target: str
    lazy: bool

    def __str__(self) -> str:
        return f"{self.source}:{self.line} imports {self.target}"


def imports() -> Iterator[Import]:
    for path in files(".py"):
        if PACKAGE in path.parents and "frontend" not in path.parts:
            module = ".".join(path.relative_to(REPO).with_suffix("").parts).removesuffix(".__init__")
            yield from _imports(ast.parse(path.read_text("utf-8")), module, lazy=False)


def _imports(node: ast.AST, module: str, *, lazy: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (Import(module, child.lineno, alias.name, lazy) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            assert child.level == 0, f"{module}:{child.lineno} imports relatively"
            base = f"{child.module}."
            yield from (Import(module, child.lineno, base + alias.name, lazy) for alias in child.names)
        inner = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) or _is_for_types(child)
        yield from _imports(child, module, lazy=lazy or inner)


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def room(module: str) -> str:
    """Return the innermost room a module is in."""
    parts = module.split(".")[1:]
    names = [".".join(parts[:length]) for length in range(len(parts), 0, -1)]
    return next((name for name in names if name in ROOMS), "")


def allowed(name: str, *, lazy: bool) -> set[str]:
    eager, _, deferred = ROOMS[name].partition("|")
    return set(eager.split()) | (set(deferred.split()) if lazy else set())


def ours() -> list[Import]:
    return [item for item in imports() if item.target.split(".")[0] == "xprof_nb"]


def theirs() -> list[Import]:
    return [item for item in imports() if item.target.split(".")[0] != "xprof_nb"]


def test_every_module_has_a_room():
    modules = {item.source for item in imports()}
    assert sorted(module for module in modules if module != "xprof_nb" and room(module) == "") == []


def test_rooms_import_only_what_is_below_them():
    upward = [
        str(item)
        for item in ours()
        if item.target not in ("xprof_nb", "xprof_nb.__version__")
        and room(item.target) not in allowed(room(item.source), lazy=item.lazy)
    ]
    assert upward == []


def test_rooms_never_import_what_they_must_not_know():
    known = [str(item) for item in theirs() if item.target.split(".")[0] in NEVER.get(room(item.source), ())]
    assert known == []


def test_jax_is_imported_inside_functions_of_few_rooms():
    uses = [item for item in theirs() if item.target.split(".")[0] in ("jax", "jaxlib")]
    assert [str(item) for item in uses if not item.lazy or room(item.source) not in MAY_USE_JAX] == []


def loaded_by(statement: str) -> set[str]:
    """Return the top-level modules that a statement loads into a clean interpreter."""
    script = f"import sys; before = set(sys.modules)\n{statement}\nprint(*sorted(set(sys.modules) - before))"
    environment = {**os.environ, "PYTHONPATH": str(REPO)}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return {name.split(".")[0] for name in done.stdout.split()}


def test_importing_the_package_loads_nothing_but_itself():
    assert loaded_by("import xprof_nb") - sys.stdlib_module_names == {"xprof_nb"}


@pytest.mark.parametrize("name", CORE)
def test_the_core_loads_no_interface_and_no_runtime(name):
    modules = [
        ".".join(path.relative_to(REPO).with_suffix("").parts).removesuffix(".__init__")
        for path in [*(PACKAGE / name).rglob("*.py"), *PACKAGE.glob(f"{name}.py")]
    ]
    assert loaded_by("import " + ", ".join(modules)) & (INTERFACES | RUNTIMES) == set()


def test_the_server_extension_loads_no_kernel_side_and_no_analysis():
    loaded = loaded_by("import xprof_nb.jupyter.server")
    assert loaded & {"anywidget", "bokeh", "ipywidgets", "numba", "pandas", *RUNTIMES} == set()


def test_opening_and_asking_load_no_interface_and_no_runtime():
    loaded = loaded_by("import xprof_nb.runs.opening, xprof_nb.queries, xprof_nb.snapshot")
    assert loaded & (INTERFACES | RUNTIMES) == set()
