"""Allocator events to columns: whatever type a stat has, whatever thread an event is on."""

from __future__ import annotations

import numpy as np

from tests.xspace_builder import Ref, SpaceBuilder
from xprof_nb.formats import xspace
from xprof_nb.formats.allocations import has_allocations, read_allocations
from xprof_nb.model.allocations import NO_ADDRESS, Allocations


def read(space: SpaceBuilder) -> Allocations:
    return read_allocations(lambda: xspace.read(space.to_bytes()))


def test_events_of_all_threads_are_in_time_order_with_their_caller() -> None:
    space = SpaceBuilder()
    plane = space.plane("/host:CPU")
    first = plane.line("a", timestamp_ns=1)
    first.event("Execute", 0, 5000).event("Build", 100, 900)
    first.event("MemoryAllocation", 500, addr=7, index_on_host=2, bytes_allocated=10, fragmentation=0)
    plane.line("b", timestamp_ns=0).event("MemoryDeallocation", 200, addr=7, index_on_host=2, fragmentation=0.5)
    table = read(space)
    assert table.start_ps.tolist() == [200, 1500]
    assert table.offset_ps.tolist() == [200, 500]
    assert table.order.tolist() == [1, 0]
    assert table.is_free.tolist() == [True, False]
    assert table.allocators == ("2",)
    assert table.caller.tolist() == [None, "Build"]
    assert table.fragmentation_fraction.tolist() == [0.5, 0.0]
    assert np.isnan(table.heap_bytes[0])
    assert table.heap_bytes[1] == 10


def test_an_allocators_name_wins_over_its_number() -> None:
    space = SpaceBuilder()
    line = space.plane("/host:CPU").line("a")
    line.event("MemoryAllocation", 1, allocator_name=Ref("GPU_1_bfc"), device_ordinal=1)
    line.event("MemoryAllocation", 2, allocator_name="GPU_0_bfc")
    line.event("MemoryAllocation", 3, device_ordinal=12).event("MemoryAllocation", 4)
    table = read(space)
    assert [table.allocators[row] for row in table.allocator] == ["GPU_1_bfc", "GPU_0_bfc", "12", ""]


def test_what_is_not_stated_is_missing() -> None:
    space = SpaceBuilder()
    space.plane("/host:CPU").line("a").event("MemoryAllocation", 1, tf_op="", shape=Ref("f32[3]"), group_id=4)
    table = read(space)
    assert table.address.tolist() == [NO_ADDRESS]
    assert table.framework_op.tolist() == table.region.tolist() == [None]
    assert table.shape.tolist() == ["f32[3]"]
    assert (table.group.tolist(), table.data_type.tolist()) == ([4], [-1])
    for column in (table.allocation_bytes, table.heap_bytes, table.stack_bytes, table.lifetime_peak_bytes):
        assert np.isnan(column).all()


def test_odd_events_do_no_harm() -> None:
    space = SpaceBuilder()
    plane = space.plane("/host:CPU")
    line = plane.line("a")
    line.aggregated("MemoryAllocation", 3, 10).event("Other", 5, -3)
    line.event("MemoryAllocation", 6, addr=2**64 - 1, bytes_allocated=2**64 - 1, allocation_bytes="many")
    line.message.events.add(metadata_id=99, offset_ps=1)
    table = read(space)
    assert len(table) == 1
    assert table.heap_bytes[0] == float(2**64 - 1)
    assert np.isnan(table.allocation_bytes[0])


def test_a_host_without_them_is_known_without_a_second_reading() -> None:
    space = SpaceBuilder()
    space.plane("/host:CPU").line("a").event("work", 1)
    assert not has_allocations(xspace.read(space.to_bytes()))
    assert len(read(space)) == 0
