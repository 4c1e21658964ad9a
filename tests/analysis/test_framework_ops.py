"""Framework ops: scopes of real JAX programs, xprof's own table where it makes one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import xprof_nb as xp
from tests.analysis.tpu_spaces import HBM, READ, Op, core
from tests.xprof_oracle import ask_xprof, rows_of
from tests.xspace_builder import SpaceBuilder
from xprof_nb.analysis.framework_ops import direction, scope_path
from xprof_nb.formats.framework_events import split_framework_op

GIB = 2**30
TABLE = {
    "occurrences": ("occurrences", 1), "total_time": ("time_ps", 1e6), "total_self_time": ("self_time_ps", 1e6),
    "measured_flop_rate": ("flops_per_s", 1e9), "model_flop_rate": ("model_flops_per_s", 1e9),
    "measured_memory_bw": ("bytes_per_s", GIB), "operational_intensity": ("arithmetic_intensity", 1),
}  # fmt: skip


@pytest.fixture(scope="module")
def captured(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], xp.Profile]:
    made: dict[str, xp.Profile] = {}

    def capture(workload: str) -> xp.Profile:
        if workload not in made:
            pytest.importorskip("jax")
            logdir = tmp_path_factory.mktemp(workload)
            script = Path(__file__).with_name("cpu_workloads.py")
            subprocess.run([sys.executable, str(script), str(logdir), workload], check=True, timeout=240)
            made[workload] = xp.open(logdir)
        return made[workload]

    return capture


def assert_as_xprof(file: Path, kinds: set[str]) -> int:
    """Compare every row of both of xprof's tables, with and without idle time."""
    tables = ask_xprof(file, "framework_op_stats")
    ours = xp.open(file).framework_ops(compat="xprof").frame.set_index(["on", "type", "name"])
    assert ours.index.is_unique
    compared = 0
    for table, share in zip(tables, ("time_fraction", "busy_fraction"), strict=True):
        cumulative = "cumulative_" + share
        for expected in rows_of(table):
            on = expected["host_or_device"]
            if on not in kinds:
                continue
            key = (on, expected["type"], expected["operation"])
            row = ours.loc[key]
            compared += 1
            for theirs, (name, unit) in TABLE.items():
                assert row[name] == pytest.approx(expected[theirs] * unit, rel=1e-6, abs=1e-9), (key, theirs)
            side = "device" if on == "Device" else "host"
            assert row[share] == pytest.approx(expected[f"{side}_total_self_time_percent"], rel=1e-6, abs=1e-12), key
            column = "device_cumulative_total_self_time_percent"
            column = column if on == "Device" else "Host_cumulative_total_self_time_percent"
            assert row[cumulative] == pytest.approx(expected[column], rel=1e-6), key
            assert row["bound_by"] == expected["bound_by"], key
            if kinds == {"Device", "Host"} and share == "time_fraction":
                assert row["rank"] == expected["rank"]
    return compared


def test_the_recorded_tpu_is_as_xprof_has_it(corpus: Path) -> None:
    (file,) = corpus.glob("tpu-v6e-psum/plugins/profile/*/*.xplane.pb")
    assert assert_as_xprof(file, {"Device", "Host"}) == 18 + 16


@pytest.mark.parametrize(("name", "rows"), [("v100-tf", 500 + 499), ("mi300x-jax-gemm", 3), ("mi300x-jax-conv", 3)])
def test_hosts_are_as_xprof_has_them(corpus: Path, name: str, rows: int) -> None:
    (file,) = corpus.glob(f"{name}/plugins/profile/*/*.xplane.pb")
    assert assert_as_xprof(file, {"Host"}) == rows


OPS = [
    Op("fusion.1", "loop fusion", flops=10**9, bytes_accessed=10**6, breakdown=((HBM, READ, 10**6),),
       tf_op="jit(f)/jvp(layer)/dot_general:"),
    Op("fusion.2", "loop fusion", flops=10**9, bytes_accessed=10**6, tf_op="jit(f)/transpose(jvp(layer))/dot_general:"),
    Op("fusion.3.remat", "loop fusion", flops=10**6, bytes_accessed=10**6,
       tf_op="jit(f)/transpose(jvp())/checkpoint/rematted_computation/layer/tanh:"),
    Op("fusion.1", "loop fusion", program=8, flops=10**6, bytes_accessed=10**3, tf_op="jit(f)/jvp(layer)/dot_general:"),
    Op("fusion.4", "loop fusion", flops=10**3, tf_op="bert/layer_2/MatMul_12:MatMul"),
    Op("copy.1", "copy", bytes_accessed=10**6),
]  # fmt: skip
EVENTS = [(0, 0, 10), (0, 10, 10), (1, 20, 20), (2, 40, 5), (3, 50, 5), (4, 60, 2), (5, 70, 1)]


def made_up(folder: Path) -> Path:
    space = SpaceBuilder()
    core(space, 0, OPS, EVENTS)
    line = space.plane("/host:CPU").line("main")
    line.event("PjitFunction(f)", 0, 100).event("PjitFunction(f)", 10, 80).event("a/MatMul_3:MatMul", 200, 50)
    line.event("Iterator::Batch", 210, 20).event("MemcpyH2D", 300, 5).event("MEMCPYHtoD", 310, 5).event("wait", 0, 999)
    return space.write(folder)


def test_a_made_up_tpu_is_as_xprof_has_it(tmp_path: Path) -> None:
    assert assert_as_xprof(made_up(tmp_path), {"Device", "Host"}) > 12


def test_forward_backward_and_what_is_computed_again(tmp_path: Path) -> None:
    result = xp.open(made_up(tmp_path)).framework_ops()
    frame = result.frame
    (layer,) = frame[(frame["kind"] == "scope") & (frame["name"] == "layer")].itertuples()
    ms = 10**9
    assert (layer.self_time_ps, layer.forward_time_ps, layer.backward_time_ps) == (50 * ms, 25 * ms, 25 * ms)
    assert layer.rematted_time_ps == 5 * ms
    forward = frame[frame["framework_op"] == "jit(f)/jvp(layer)/dot_general"].iloc[0]
    assert (forward["occurrences"], forward["hlo_op_count"], forward["direction"]) == (3, 2, "forward")
    assert forward["flops"] == 2 * 10**9 + 10**6
    assert frame.loc[frame["is_rematted"], "name"].tolist() == ["tanh"]
    assert frame.loc[frame["name"] == "no framework op recorded", "self_time_ps"].tolist() == [1 * ms]
    host = frame[frame["on"] == "host"].set_index("name")
    assert host.loc["f", "occurrences"] == 1
    assert (host.loc["f", "time_ps"], host.loc["a/MatMul_3", "self_time_ps"]) == (100, 30)


def test_children_add_up_to_their_parent(tmp_path: Path) -> None:
    frame = xp.open(made_up(tmp_path)).framework_ops().frame
    for row in frame[(frame["children_total"] > 0) & (frame["depth"] > 0)].itertuples():
        below = frame[frame["parent"] == row.node]
        assert below["self_time_ps"].sum() == pytest.approx(row.self_time_ps)
        assert len(below) == row.children_total


def test_two_named_scopes_of_a_jitted_function_are_in_the_tree(captured: Callable[[str], xp.Profile]) -> None:
    result = captured("scopes").framework_ops()
    frame = result.frame
    scopes = frame[frame["kind"] == "scope"].set_index("name")
    for name in ("encoder", "head"):
        assert scopes.loc[name, "self_time_ps"] > 0
        assert scopes.loc[name, "forward_time_ps"] > 0
        assert scopes.loc[name, "backward_time_ps"] > 0
    assert frame.set_index("node").loc[scopes.loc["encoder", "parent"], "name"] == "jit(step)"
    devices = frame[frame["kind"] == "device"].iloc[0]
    assert devices["self_time_ps"] == pytest.approx(result.summary["busy_time_ps"])
    assert any("fusion is the smallest unit" in note for note in result.notes)
    assert frame.loc[frame["type"] == "jit call", "name"].tolist() == ["step"]


def test_a_filter_of_devices_leaves_the_hosts_out_and_says_so(captured: Callable[[str], xp.Profile]) -> None:
    result = captured("scopes").framework_ops(device="CPU:0")
    assert set(result.frame["on"]) == {"device"}
    assert any("Host rows are left out" in note for note in result.notes)


def test_nothing_on_the_devices_says_why(tmp_path: Path) -> None:
    space = SpaceBuilder()
    space.plane("/host:CPU").line("python").event("nothing", 0, 5)
    result = xp.open(space.write(tmp_path)).framework_ops()
    assert result.frame.empty
    assert result.notes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a/b/MatMul_1:MatMul", ("a/b/MatMul_1", "MatMul")), ("jit(f)/add:", ("jit(f)/add", "add")),
        ("x/concat_3:", ("x/concat_3", "concat")), ("Iterator::Map", ("Iterator::Map", "Dataset")),
        ("MemcpyHtoD", ("MemcpyHtoD", "MemcpyHToD")), ("std::sort", ("std::sort", None)), ("train", ("train", None)),
        ("f:gather[x=(1, 2)]", ("f", "gather")),
    ],
)  # fmt: skip
def test_names_and_types(text: str, expected: tuple[str, str | None]) -> None:
    assert split_framework_op(text) == expected


def test_what_jax_wraps_around_a_scope_is_taken_off() -> None:
    assert scope_path("jit(f)/transpose(jvp(a/b))/dot_general") == ["jit(f)", "a", "b", "dot_general"]
    assert scope_path("jit(f)/vmap(jvp())/checkpoint/rematted_computation/a/tanh") == ["jit(f)", "a", "tanh"]
    assert [direction(text) for text in ("f/a", "f/jvp(a)/x", "f/transpose(jvp(a))/x", None)] == [
        None, "forward", "backward", None,
    ]  # fmt: skip
