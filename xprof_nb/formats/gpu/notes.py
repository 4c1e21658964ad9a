"""What a GPU profile leaves out, why, and what would fill it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from xprof_nb.formats.gpu.launches import GPU_WORK, Launched
from xprof_nb.formats.gpu.names import kinds, of_xla
from xprof_nb.formats.gpu.streams import ABSENT, Streams
from xprof_nb.formats.xspace import XPlane
from xprof_nb.model.kernels import GRAPH, KERNEL, KINDS
from xprof_nb.model.program import Program

NO_COMMAND_BUFFERS = "XLA_FLAGS=--xla_gpu_enable_command_buffer="
"""The whole setting: the flag's value is the empty list of what to put in command buffers."""
_XLA_ON_GPU = ("GpuExecutable::", "TfrtGpu", "GPU_0_bfc")
_WORTH_SAYING = 0.01
"""Share of the kernel time; drivers lose the op of a kernel now and then."""
_XLA_SCOPE = ":XLA GPU module"
_PERMISSION = (
    "Reading what a GPU ran needs permission. NVIDIA: allow it for all users (driver option "
    "NVreg_RestrictProfilingToAdminUsers=0) or give the process or container CAP_SYS_ADMIN (docker run "
    "--cap-add=SYS_ADMIN), let no other profiler (Nsight, DCGM) hold the GPU, and have libcupti of the CUDA version "
    "in use on the library path. AMD: the user has to be in the groups video and render. Then restart the kernel and "
    "capture again."
)


def notes(
    streams: Streams,
    launched: Launched,
    planes: Sequence[XPlane],
    traced: Sequence[XPlane],
    programs: Mapping[int, Program],
) -> list[str]:
    """Return what to know of GPUs of which some ran something.

    Parameters
    ----------
    planes, traced
        Every GPU of the host, and those `streams` has events of.
    """
    return [*_coverage(planes, traced), *_nameless(streams, launched, programs), *_lost(launched)]


def nothing_ran(planes: Sequence[XPlane], streams: Streams | None, host: XPlane | None) -> list[str]:
    """Return why no stream of any GPU has an event; nothing of a host that has and used none."""
    if streams is not None and streams.derived_count:
        return [
            f"Inconsistent profile: {streams.derived_count:,} events were derived from kernels of {len(planes)} GPUs, "
            "but no stream has a kernel. The file was cut or filtered on the way; open the one the profiler wrote."
        ]
    if host is not None and _uses_gpu(host):
        return [f"The program used a GPU, but no event of a GPU was recorded. {_PERMISSION}"]
    return [f"No event of {len(planes)} GPUs was recorded: nothing ran on them during the capture."] if planes else []


def _uses_gpu(host: XPlane) -> bool:
    return any(name.startswith((*GPU_WORK, *_XLA_ON_GPU)) or name.endswith(_XLA_SCOPE) for name in host.metadata.name)


def _coverage(planes: Sequence[XPlane], traced: Sequence[XPlane]) -> list[str]:
    silent = [plane.name.rpartition(":")[2] for plane in planes if plane not in traced]
    if not silent:
        return []
    return [
        f"Devices traced: {len(traced)} of {len(planes)}. No event is recorded of GPU {', '.join(silent)}: "
        "the program did not use them, or another process did; they count neither as busy nor as idle."
    ]


def _nameless(streams: Streams, launched: Launched, programs: Mapping[int, Program]) -> list[str]:
    """Say which kernels have no op, and how to give them one."""
    kind = kinds(streams, launched)
    nameless = ~of_xla(streams) & np.isin(kind, [KINDS.index(KERNEL), KINDS.index(GRAPH)])
    in_graph = nameless & ((streams.column("graph") != ABSENT) | (streams.column("graph_node") != ABSENT))
    by_framework = (streams.codes("annotation") >= 0) | (streams.codes("tf_op") >= 0)
    lone = nameless & ~by_framework
    duration_ps = streams.column("duration_ps").astype(np.float64)
    share = duration_ps[in_graph | lone].sum() / max(duration_ps.sum(), 1.0)
    if not in_graph.any() and not (programs and share >= _WORTH_SAYING):
        return []
    graphs = f", {int(in_graph.sum()):,} of them of CUDA graphs" if in_graph.any() else ""
    return [
        f"{int((in_graph | lone).sum()):,} kernel executions ({share:.0%} of the kernel time{graphs}) do not say which "
        "XLA op they belong to: XLA launched them from command buffers, which hide it. To see their ops, set "
        f"`{NO_COMMAND_BUFFERS}` before jax is imported, restart the kernel, and capture again. "
        "Until then kernels() shows them by name."
    ]


def _lost(launched: Launched) -> list[str]:
    if not launched.lost_count:
        return []
    return [
        f"Inconsistent profile: of {launched.made_count:,} kernels the host launched, {launched.lost_count:,} are on "
        "no stream. They ran after the capture, or the driver's trace buffers overflowed: wait for the work before the "
        "capture ends, or capture less."
    ]
