"""Hosts of one capture, wherever their files lie: joined, put on one clock, and what is missing named."""

from __future__ import annotations

import multiprocessing
import shutil
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest

import xprof_nb as xp
from tests.xspace_builder import NS_PER_MS, PS_PER_MS, SpaceBuilder
from xprof_nb.formats.hlo_schema import message_class
from xprof_nb.formats.wall_clock import wall_clock
from xprof_nb.runs.joining import find_run

START_NS = 1_790_000_000 * 10**9
PROGRAM = 7


def hlo(instruction: str, replicas: int = 1, partitions: int = 1) -> bytes:
    """Return a program of one instruction that runs on so many devices."""
    proto = message_class("HloProto")()
    module = proto.hlo_module
    module.name, module.entry_computation_name, module.entry_computation_id = "jit_step", "main", 1
    computation = module.computations.add(name="main", id=1, root_id=1)
    computation.instructions.add(name=instruction, opcode="add", id=1)
    module.device_assignment.replica_count = replicas
    module.device_assignment.computation_count = partitions
    return bytes(proto.SerializeToString())


def capture(
    folder: Path,
    host: str,
    start_ms: float = 0,
    length_ms: float = 100,
    *,
    devices: int = 1,
    proto: bytes = b"",
    program: int = PROGRAM,
    op: str = "fusion.1",
) -> Path:
    """Write a host on which one op of 2 ms ran on each TPU, 10 ms after the profiler started."""
    space = SpaceBuilder(host)
    for number in range(devices):
        plane = space.plane(f"/device:TPU:{number}", {"device_type_string": "TPU v5 lite"})
        stats = {"program_id": program, "symbol_id": 1, "hlo_category": "loop fusion"}
        plane.metadata(f"%{op} = f32[] fusion()", stats, display_name=op)
        plane.line("XLA Ops").event(f"%{op} = f32[] fusion()", 10 * PS_PER_MS, 2 * PS_PER_MS)
        label = f"jit_step({program})"
        plane.line("XLA Modules").event(label, 10 * PS_PER_MS, 3 * PS_PER_MS, run_id=number + 1)
    if proto:
        space.hlo({f"jit_step({program})": proto})
    start_ns = START_NS + int(start_ms * NS_PER_MS)
    space.task_environment(start_ns, start_ns + int(length_ms * NS_PER_MS))
    return space.write(folder)


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Return the folder that run folders are made in."""
    return tmp_path / "logs" / "plugins" / "profile"


def test_hosts_of_one_folder_are_joined_on_one_clock(runs):
    capture(runs / "2026_11_30_10_00_00", "host0")
    capture(runs / "2026_11_30_10_00_00", "host1", start_ms=25)
    profile = xp.open(runs / "2026_11_30_10_00_00")
    assert profile.hosts == ("host0", "host1")
    assert [trace.window_ps for trace in profile.data.hosts] == [
        (0, 100 * PS_PER_MS),
        (25 * PS_PER_MS, 125 * PS_PER_MS),
    ]
    assert [int(trace.ops.host_start_ps[0]) for trace in profile.data.hosts] == [10 * PS_PER_MS, 35 * PS_PER_MS]
    assert [int(trace.runs.start_ps[0]) for trace in profile.data.hosts] == [10 * PS_PER_MS, 35 * PS_PER_MS]
    assert any("host1 +25.000 ms" in note for note in profile.notes)
    early = profile.ops(window_ps=(0, 20 * PS_PER_MS)).frame
    assert early["host"].tolist() == ["host0"]


def test_hosts_in_sibling_folders_seconds_apart_are_joined(runs):
    opened = runs / "2026_11_30_10_00_00"
    capture(opened, "host0", 0)
    capture(runs / "2026_11_30_10_00_02", "host1", 40)
    profile = xp.open(opened)
    assert profile.hosts == ("host0", "host1")
    assert any("host1 joined from run 2026_11_30_10_00_02" in note for note in profile.notes)
    assert any("host1 +40.000 ms" in note for note in profile.notes)
    assert xp.open(opened / "host0.xplane.pb").hosts == ("host0",)  # a file means itself


@pytest.mark.parametrize(("start_ms", "joins"), [(50, True), (51, False), (100, False), (-50, True), (-51, False)])
def test_a_sibling_must_share_half_of_the_window(runs, start_ms, joins):
    capture(runs / "2026_11_30_10_00_00", "host0", 0)
    capture(runs / "2026_11_30_10_00_02", "host1", start_ms)
    assert xp.open(runs / "2026_11_30_10_00_00").hosts == (("host0", "host1") if joins else ("host0",))


def test_half_of_the_shorter_window_is_enough(runs):
    capture(runs / "2026_11_30_10_00_00", "host0", 0, 100)
    capture(runs / "2026_11_30_10_00_02", "host1", 90, 20)
    assert xp.open(runs / "2026_11_30_10_00_00").hosts == ("host0", "host1")


def test_a_host_counts_once(runs):
    capture(runs / "2026_11_30_10_00_00", "host0")
    capture(runs / "2026_11_30_10_00_02", "host0", 1)
    profile = xp.open(runs / "2026_11_30_10_00_00")
    assert profile.hosts == ("host0",)
    assert any("2026_11_30_10_00_02" in note and "another process" in note for note in profile.notes)


def test_runs_hours_apart_and_folders_outside_the_layout_are_left_alone(runs, tmp_path):
    capture(runs / "2026_11_30_10_00_00", "host0")
    capture(runs / "2026_11_30_13_00_00", "host1")
    assert xp.open(runs / "2026_11_30_10_00_00").hosts == ("host0",)
    capture(tmp_path / "elsewhere" / "a", "host0")
    capture(tmp_path / "elsewhere" / "b", "host1")
    assert xp.open(tmp_path / "elsewhere" / "a").hosts == ("host0",)


def test_a_sibling_is_joined_only_where_it_may_be_read(runs):
    capture(runs / "2026_11_30_10_00_00", "host0")
    capture(runs / "2026_11_30_10_00_02", "host1")
    opened = runs / "2026_11_30_10_00_00"
    assert len(find_run(opened).files) == 2
    assert len(find_run(opened, lambda path: "00_02" not in path).files) == 1
    assert len(find_run(opened, lambda path: path.startswith(str(opened))).files) == 1


def test_the_window_is_found_without_reading_the_file(runs):
    path = capture(runs / "r", "host0", 3, 100, devices=4)
    content = path.read_bytes() + b"\x0a\x80\x80\x80\x80\x10"  # a plane of 4 GiB that is not there
    read = []

    def part(start, end):
        read.append(end - start)
        return content[start:end]

    assert wall_clock(part, len(content)) == (START_NS + 3 * NS_PER_MS, START_NS + 103 * NS_PER_MS)
    assert sum(read) < len(content)


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"\n\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", b"profile", b"\0" * 500]
)
def test_no_window_in_other_bytes(content):
    assert wall_clock(lambda start, end: content[start:end], len(content)) is None


def test_two_processes_of_one_hostname_are_two_hosts(runs):
    path = capture(runs / "r", "node")
    path.rename(path.with_name("node_0.xplane.pb"))
    path = capture(runs / "r", "node", 5)
    path.rename(path.with_name("node_1.xplane.pb"))
    frame = xp.open(runs / "r").ops().frame
    assert sorted(frame["host"]) == ["node_0", "node_1"]
    assert set(frame["device"]) == {"TPU:0"}


def test_devices_of_one_name_are_told_apart_by_their_host(runs):
    for number, host in enumerate(("host0", "host1")):
        capture(runs / "r", host, number, devices=2)
    profile = xp.open(runs / "r")
    assert len(profile.ops(device="TPU:0").frame) == 2
    one = profile.ops(device="TPU:0", host="host1").frame
    assert one[["host", "device"]].to_numpy().tolist() == [["host1", "TPU:0"]]
    assert profile.ops(host="host1").summary["device_count"] == 2
    details = profile.ask("op_details", program_id=str(PROGRAM), op="fusion.1", host="host1", device=1)
    assert details.summary["occurrences"] == 1
    with pytest.raises(xp.ProfileError, match="host0, host1"):
        profile.ops(host="host2")


def test_a_damaged_host_is_left_out_and_named(runs):
    capture(runs / "r", "host0")
    whole = capture(runs / "r", "host1").read_bytes()
    (runs / "r" / "host1.xplane.pb").write_bytes(whole[:-20])
    (runs / "r" / "host2.xplane.pb").write_bytes(b"")
    profile = xp.open(runs / "r")
    assert profile.hosts == ("host0",)
    notes = " ".join(profile.notes)
    assert "host1.xplane.pb" in notes
    assert "host2.xplane.pb" in notes
    assert any("host1.xplane.pb" in note for note in profile.ops().notes)
    (runs / "r" / "host0.xplane.pb").unlink()
    with pytest.raises(xp.ProfileError, match=r"host1\.xplane\.pb"):
        xp.open(runs / "r")


def test_devices_of_processes_that_wrote_nothing_are_missed(runs):
    capture(runs / "r", "host0", devices=2, proto=hlo("fusion.1", replicas=4, partitions=2))
    notes = " ".join(xp.open(runs / "r").notes)
    assert "Devices traced 2 of 8" in notes
    assert "replicas 4, partitions 2" in notes
    for number in range(1, 4):
        capture(runs / "r", f"host{number}", devices=2, proto=hlo("fusion.1", replicas=4, partitions=2))
    assert "Devices traced" not in " ".join(xp.open(runs / "r").notes)


def test_half_of_a_recorded_system_is_said_to_be_half(corpus):
    profile = xp.open(corpus / "tpu-v6e-psum")
    (note,) = [note for note in profile.notes if note.startswith("Devices traced")]
    assert "Devices traced 4 of 8: jit_f runs on 8" in note
    assert "chips traced are 4, 5, 6, 7" in note


@pytest.mark.parametrize(
    ("hosts", "missing"),
    [
        (["t1v-n-9eb622fc-w-0", "t1v-n-9eb622fc-w-2"], "t1v-n-9eb622fc-w-1"),
        (["host0", "host1", "host3"], "host2"),
        (["rank_1-of-2"], "rank_0"),
        (["host0", "host1"], None),
        (["node17", "node31"], None),
        (["10.0.0.5", "10.0.0.7"], None),
        (["w-3"], None),
    ],
)
def test_a_gap_in_the_numbers_of_workers_is_a_missing_host(runs, hosts, missing):
    for host in hosts:
        capture(runs / "r", host)
    notes = [note for note in xp.open(runs / "r").notes if note.startswith("Hosts found")]
    assert (missing is None) == (not notes)
    assert missing is None or missing in notes[0]


def test_one_program_id_for_two_programs_is_taken_apart(runs):
    capture(runs / "r", "host0", proto=hlo("fusion.1"), op="fusion.1")
    capture(runs / "r", "host1", proto=hlo("other.1"), op="other.1")
    capture(runs / "r", "host2", proto=hlo("fusion.1"), op="fusion.1")
    profile = xp.open(runs / "r")
    ids = {row.host: row.program_id for row in profile.ops().frame.itertuples()}
    assert ids == {"host0": PROGRAM, "host1": PROGRAM + 1, "host2": PROGRAM}
    assert set(profile.programs[PROGRAM + 1].instructions) == {"other.1"}
    assert set(profile.programs[PROGRAM].instructions) == {"fusion.1"}
    assert profile.data.hosts[1].runs.program_id.tolist() == [PROGRAM + 1]
    assert any("host1 numbers other programs" in note and "jit_step(7) is 8" in note for note in profile.notes)


def test_hosts_started_days_apart_keep_their_own_clock(runs):
    capture(runs / "r", "host0")
    capture(runs / "r", "host1", start_ms=48 * 3600 * 1000)
    profile = xp.open(runs / "r")
    assert [trace.window_ps[0] for trace in profile.data.hosts] == [0, 0]
    assert any("48.0 h apart" in note for note in profile.notes)


@pytest.mark.parametrize(
    "pool",
    [
        lambda: ThreadPoolExecutor(2),
        lambda: ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")),
    ],
    ids=["threads", "processes"],
)
def test_hosts_decoded_by_an_executor_are_the_same(runs, pool: Callable[[], Executor]):
    for number, host in enumerate(("host0", "host1")):
        capture(runs / "r", host, 7 * number, proto=hlo("fusion.1"))
    (runs / "r" / "host2.xplane.pb").write_bytes(b"\n\xff")
    with pool() as executor:
        apart = xp.open(runs / "r", executor=executor)
    here = xp.open(runs / "r")
    assert apart.notes == here.notes
    assert apart.ops().frame.equals(here.ops().frame)
    assert apart.events().frame.equals(here.events().frame)  # read again, in this process


def test_copies_of_a_recorded_host_in_two_folders(corpus, runs):
    (file,) = (corpus / "tpu-v6e-psum").rglob("*.xplane.pb")
    for folder, host in (("2025_03_11_19_41_39", "w-0"), ("2025_03_11_19_41_41", "w-1")):
        (runs / folder).mkdir(parents=True)
        shutil.copy(file, runs / folder / f"{host}.xplane.pb")
    profile = xp.open(runs / "2025_03_11_19_41_39")
    assert profile.hosts == ("w-0", "w-1")
    assert len(profile.devices) == 8
    assert "Devices traced" not in " ".join(profile.notes)
