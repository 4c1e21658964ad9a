"""How many bytes a device puts on its links for each collective."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from xprof_nb.analysis.categories import COLLECTIVE_OPCODES
from xprof_nb.analysis.collective_ops import bus_factor, moving_keys
from xprof_nb.model.profile import ProfileData
from xprof_nb.model.trace import HostTrace


def link_bytes(profile: ProfileData, trace: HostTrace) -> NDArray[np.float64]:
    """Return for each op of a host the bytes a device sends in one occurrence, NaN of ops that are no collective.

    The payload times `collective_ops.bus_factor`, what a ring needs at least. Of an asynchronous collective the done
    half has them, as it has the others.
    """
    keys = moving_keys(profile, trace)
    sent = np.full(len(keys["kind"]), np.nan)
    named = zip(keys["kind"], keys["op"], keys["payload_bytes"], keys["group_size"], strict=True)
    for row, (kind, op, payload, group) in enumerate(named):
        if kind in COLLECTIVE_OPCODES and "-start" not in str(op) and group > 0:
            sent[row] = payload * bus_factor(kind, group)
    return sent
