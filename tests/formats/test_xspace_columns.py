"""What the columns say: positions in time, aggregated events, stats of changing types."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.formats.conftest import corpus_files
from tests.formats.xspace_messages import MESSAGES, parse, rows_of_columns, rows_of_messages
from xprof_nb.errors import DamagedFileError
from xprof_nb.formats import xspace
from xprof_nb.formats.codes import SEGMENT_EVENTS


def _space(**stats):
    """A plane with one event per value of each stat, one stat after the other."""
    space = MESSAGES["Space"]()
    plane = space.planes.add(name="/host:CPU")
    line = plane.lines.add(name="python", timestamp_ns=7)
    for stat_id, (name, values) in enumerate(stats.items(), start=1):
        plane.stat_metadata[stat_id].name = name
        for value in values:
            event = line.events.add(metadata_id=1, offset_ps=3, duration_ps=4)
            if value is not None:
                event.stats.add(metadata_id=stat_id, **value)
    return space


def _plane(space):
    return xspace.read(space.SerializeToString()).planes[0]


def test_real_files_read_as_protobuf_reads_them(cpu_capture):
    for path in (cpu_capture, *corpus_files()):
        space = xspace.read(path)
        assert rows_of_columns(space) == rows_of_messages(parse(path.read_bytes())), path
        assert space.source == str(path)
        assert space.size_bytes == path.stat().st_size


def test_a_cpu_capture_has_its_ops_steps_and_programs(cpu_capture):
    space = xspace.read(cpu_capture)
    host = space.plane("/host:CPU")
    codes, ops = host.event_stat("hlo_op").texts()
    assert any("fusion" in op for op in ops)
    steps = host.event_stat("step_num")
    numbers = steps.ints(missing=-1)[steps.present].tolist()
    assert sorted(numbers) == list(range(len(numbers)))
    assert numbers
    assert (codes >= 0).sum() == host.event_stat("program_id").present.sum()
    assert all(blob for blob in space.plane("/host:metadata").metadata_stat("HLO Proto").blobs())
    assert space.plane("/device:TPU:0") is None


def test_one_name_with_many_types():
    values = [
        None,
        {"double_value": 3.0},
        {"double_value": 0.5},
        {"double_value": math.inf},
        {"uint64_value": 2**64 - 1},
        {"int64_value": -5},
        {"str_value": "12"},
        {"bytes_value": b"\xff"},
        {"ref_value": 1},
    ]
    column = _plane(_space(size=values)).event_stat("size")
    assert column.kind.tolist() == [0, 1, 1, 1, 2, 3, 4, 5, 6]
    assert column.present.tolist() == [False] + [True] * 8
    assert column.ints(missing=-9).tolist() == [-9, 3, -9, -9, -1, -5, -9, -9, -9]
    assert column.ints().tolist() == [0, 3, 0, 0, -1, -5, 0, 0, 0]
    assert column.floats().tolist()[1:6] == [3.0, 0.5, math.inf, 2.0**64, -5.0]
    assert np.isnan(column.floats()[[0, 6, 7, 8]]).all()
    codes, texts = column.texts()
    assert [texts[code] if code >= 0 else None for code in codes] == [None] * 6 + ["12", None, "size"]
    assert column.blobs() == [None] * 7 + [b"\xff", None]
    assert [column.value(row) for row in (0, 4, 6, 7)] == [None, 2**64 - 1, "12", b"\xff"]


def test_texts_are_interned_across_str_and_ref():
    values = [{"str_value": "hlo_op"}, {"ref_value": 1}, {"str_value": "x"}, {"str_value": "hlo_op"}]
    codes, texts = _plane(_space(hlo_op=values)).event_stat("hlo_op").texts()
    assert sorted(texts) == ["hlo_op", "x"]
    assert [texts[code] for code in codes] == ["hlo_op", "hlo_op", "x", "hlo_op"]


def test_two_ids_of_one_name_are_one_stat():
    space = _space(size=[{"int64_value": 1}], other=[{"int64_value": 2}])
    space.planes[0].stat_metadata[2].name = "size"
    plane = _plane(space)
    assert plane.stat_names == ("size",)
    assert plane.event_stat("size").ints().tolist() == [1, 2]


def test_of_a_stat_that_repeats_the_first_value_counts():
    space = _space(size=[{"int64_value": 1}])
    stats = space.planes[0].lines[0].events[0].stats
    stats.add(metadata_id=1, int64_value=2)
    stats.insert(0, MESSAGES["Stat"](metadata_id=1))
    stats.insert(0, MESSAGES["Stat"](metadata_id=1, ref_value=77))
    assert _plane(space).event_stat("size").ints().tolist() == [1]


def test_an_unknown_stat_is_absent_everywhere():
    column = _plane(_space(size=[{"int64_value": 1}])).event_stat("no such stat")
    assert not column.present.any()
    assert column.texts()[1] == []
    assert np.isnan(column.floats()).all()


def test_stats_of_some_events_are_those_rows():
    plane = _plane(_space(size=[{"int64_value": i} for i in range(6)], name=[{"str_value": "a"}]))
    rows = np.array([5, 2, 6])
    size, name = plane.stats_of(rows, "size", "name")
    assert size.ints(missing=-1).tolist() == [5, 2, -1]
    assert name.texts()[0].tolist() == [-1, -1, 0]
    assert name.take(name.present).texts() == ([0], ["a"])


def test_time_starts_at_the_line_even_when_the_line_says_so_last():
    line = MESSAGES["Line"](events=[MESSAGES["Event"](offset_ps=3, duration_ps=4)]).SerializeToString()
    line += MESSAGES["Line"](timestamp_ns=7).SerializeToString()
    plane = b"\x1a" + bytes([len(line)]) + line + MESSAGES["Plane"](name="p").SerializeToString()
    events = xspace.read(b"\x0a" + bytes([len(plane)]) + plane).planes[0].events
    assert events.start_ps.tolist() == [7003]
    assert events.duration_ps.tolist() == [4]
    assert events.metadata.tolist() == [-1]


def test_each_line_has_its_own_clock():
    space = _space(size=[None, None])
    space.planes[0].lines.add(timestamp_ns=100).events.add(offset_ps=1)
    space.planes[0].lines.add(timestamp_ns=-1)
    assert _plane(space).events.start_ps.tolist() == [7003, 7003, 100_001]


def test_an_aggregated_event_has_occurrences_and_no_position():
    space = _space(size=[None, None])
    space.planes[0].lines[0].events[1].num_occurrences = 9
    events = _plane(space).events
    assert events.positioned.tolist() == [True, False]
    assert events.occurrences.tolist() == [1, 9]
    assert events.offset_ps.tolist() == [3, 0]


def test_a_clock_too_far_for_picoseconds_is_an_error_not_another_time():
    space = _space(size=[None])
    space.planes[0].lines[0].timestamp_ns = 1_600_000_000 * 10**9
    with pytest.raises(DamagedFileError, match="timestamp"):
        _ = _plane(space).events.start_ps


def test_a_long_line_is_walked_in_parts():
    n = 2 * SEGMENT_EVENTS + 5
    plane = _plane(_space(size=[{"int64_value": i} for i in range(n)]))
    assert (plane.event_stat("size").ints() == np.arange(n)).all()
    assert plane.lines.first_event.tolist() == [0, n]


def test_every_kind_of_bytes_object_is_read(tmp_path):
    data = _space(size=[{"int64_value": 1}]).SerializeToString()
    path = tmp_path / "h.xplane.pb"
    path.write_bytes(data)
    for source in (path, str(path), data, bytearray(data), memoryview(data), memoryview(data + data)[: len(data)]):
        assert xspace.read(source).planes[0].event_stat("size").ints().tolist() == [1]
