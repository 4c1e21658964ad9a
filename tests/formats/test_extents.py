import numpy as np
import pytest

from xprof_nb.formats.extents import NEVER_AGAIN, NEVER_YET, extents


def test_a_group_lasts_from_its_first_start_to_its_last_end():
    group, start, duration = np.array([0, 2, 0, -1, 2]), np.array([10, 5, 8, 0, 6]), np.array([5, 9, 1, 99, 1])
    first, last = extents(group, start, duration, 4)
    assert first.tolist() == [8, NEVER_YET, 5, NEVER_YET]
    assert last.tolist() == [15, NEVER_AGAIN, 14, NEVER_AGAIN]


@pytest.mark.parametrize("count", [0, 3])
def test_no_events_are_no_extents(count):
    none = np.zeros(0, np.int64)
    first, last = extents(none, none, none, count)
    assert first.tolist() == [NEVER_YET] * count
    assert last.tolist() == [NEVER_AGAIN] * count
