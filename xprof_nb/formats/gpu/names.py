"""What the names of a GPU's events tell: kernel or copy, TensorFlow's op, the collective a library kernel performs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xprof_nb.formats.gpu.launches import Launched
from xprof_nb.formats.gpu.streams import ABSENT, Streams
from xprof_nb.model import kernels as k
from xprof_nb.model.kept import kept_with_first

Codes = NDArray[np.int64]
Texts = NDArray[np.object_]

_DIRECTIONS = (
    (re.compile(r"H(?:to|2|->)D|host_?to_?device", re.IGNORECASE), k.HOST_TO_DEVICE),
    (re.compile(r"D(?:to|2|->)H|device_?to_?host", re.IGNORECASE), k.DEVICE_TO_HOST),
    (re.compile(r"D(?:to|2|->)D|device_?to_?device", re.IGNORECASE), k.DEVICE_TO_DEVICE),
    (re.compile(r"P(?:to|2|->)P|peer", re.IGNORECASE), k.PEER),
    (re.compile(r"H(?:to|2|->)H", re.IGNORECASE), k.HOST_TO_HOST),
)
_COPY = re.compile(r"mem_?cpy|__amd_rocclr_copy|^copy_?buffer", re.IGNORECASE)
_FILL = re.compile(r"mem_?set|__amd_rocclr_fill", re.IGNORECASE)
_ROCM_OWN = "__amd_rocclr"
_COLLECTIVES = (
    (re.compile(r"all_?reduce", re.IGNORECASE), "all-reduce"),
    (re.compile(r"all_?gather", re.IGNORECASE), "all-gather"),
    (re.compile(r"reduce_?scatter", re.IGNORECASE), "reduce-scatter"),
    (re.compile(r"all_?to_?all", re.IGNORECASE), "all-to-all"),
    (re.compile(r"broadcast", re.IGNORECASE), "collective-broadcast"),
)
_COLLECTIVE_LIBRARY = re.compile(r"(?:^|[^a-z])(?:nccl|rccl|msccl)", re.IGNORECASE)
_SCOPES = re.compile(r"XlaModule:?$|ThunkExecutor", re.ASCII)
"""What XLA writes where TensorFlow has its op: no op."""


class FrameworkOp(NamedTuple):
    """Path and type of TensorFlow's op, None where there is none."""

    name: str | None
    kind: str | None


@kept_with_first
def kinds(streams: Streams, launched: Launched) -> Codes:
    """Return what each event is, as rows of `xprof_nb.model.kernels.KINDS`.

    ROCm copies and fills with kernels of one name each: the direction is in the name of the host's call.
    """
    found = _kinds_of(streams.texts["name"], streams.codes("name"))
    named_kernel = np.array([*(not name.startswith(_ROCM_OWN) for name in streams.texts["name"]), False])
    has_details = streams.codes("kernel_details") >= 0
    found[has_details & named_kernel[streams.codes("name")]] = k.KINDS.index(k.KERNEL)
    asked = _kinds_of(launched.driver_names, launched.driver_call)
    found = np.where((found == k.KINDS.index(k.COPY)) & (asked != k.KINDS.index(k.KERNEL)), asked, found)
    for column, meaning in (("copy_details", k.COPY), ("fill_details", k.FILL)):
        stated = (streams.codes(column) >= 0) & (found == k.KINDS.index(k.KERNEL))
        found[stated] = k.KINDS.index(meaning)
    opaque = (streams.column("graph") != ABSENT) & ~has_details & (found == k.KINDS.index(k.KERNEL))
    found[opaque] = k.KINDS.index(k.GRAPH)
    return found


def _kinds_of(names: Sequence[str], codes: Codes) -> Codes:
    """Return the kind that each event's name tells of; without a name it is a kernel."""
    used, at = np.unique(codes, return_inverse=True)
    kinds = [k.KINDS.index(kind_of(names[code]) if code >= 0 else k.KERNEL) for code in used.tolist()]
    return np.array(kinds, np.int64)[at]


@lru_cache(8192)
def kind_of(name: str) -> str:
    """Return what an event or driver call of that name does."""
    if _COPY.search(name):
        return next((kind for pattern, kind in _DIRECTIONS if pattern.search(name)), k.COPY)
    return k.FILL if _FILL.search(name) else k.KERNEL


def of_xla(streams: Streams) -> NDArray[np.bool_]:
    """Return which events belong to an XLA op."""
    return (streams.codes("hlo_op") >= 0) & (streams.codes("hlo_module") >= 0)


def framework_codes(streams: Streams) -> Codes:
    """Return the row of `framework_ops` each event belongs to, -1 for none: the first of the stats that has one."""
    found = np.full(len(streams), -1, np.int64)
    first = 0
    for column in ("tf_op", "annotation", "level"):
        texts, codes = streams.texts[column], streams.codes(column)
        has_op = np.array([*(not _SCOPES.match(text) and text != "" for text in texts), False], np.bool_)
        taken = (found < 0) & has_op[codes]
        found[taken] = first + codes[taken]
        first += len(texts)
    return found


def framework_ops(streams: Streams) -> list[FrameworkOp]:
    """Return what the codes of `framework_codes` mean."""
    return [_framework_op(text) for column in ("tf_op", "annotation", "level") for text in streams.texts[column]]


def _framework_op(text: str) -> FrameworkOp:
    """Return path and type of ``path/MatMul_1:MatMul#shape=…#``."""
    name, _, kind = text.partition("#")[0].rpartition("::")[2].partition(":")
    return FrameworkOp(name or None, kind or None)


def categories(
    kinds: Sequence[str | None], names: Sequence[str | None], framework_kinds: Sequence[str | None]
) -> Texts:
    """Return the category of what belongs to no XLA op: the copy, the collective, TensorFlow's type, or ``kernel``."""
    found = [
        kind if kind != k.KERNEL else collective(name) or of_framework or k.KERNEL
        for kind, name, of_framework in zip(kinds, names, framework_kinds, strict=True)
    ]
    return np.array([*found, None], object)[:-1]


def collective(name: str | None) -> str | None:
    """Return the collective a kernel of NCCL or RCCL performs, None for another kernel."""
    if not name or not _COLLECTIVE_LIBRARY.search(name):
        return None
    return next((kind for pattern, kind in _COLLECTIVES if pattern.search(name)), "collective")
