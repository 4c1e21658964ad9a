"""What the name of a GPU kernel tells of it: whether it uses tensor cores, whether it communicates."""

from __future__ import annotations

import re
from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from xprof_nb.analysis.categories import COLLECTIVE_OPCODES

Texts = NDArray[np.object_]

_NVIDIA = re.compile(
    r"""[hsci]884 | [hscdi]?1688 | 16816 | 16832 | 16864 | i?8816    # shapes of mma up to Ampere
      | \bhmma | \bimma | \bdmma | _hmma | _imma | tensorop
      | wgmma | gmma | tcgen05 | umma | warpspecialized | warp_specialized   # Hopper and Blackwell
      | (sm|cutlass)_?(80|86|89|90|100|103|120)a?_(xmma|tensorop) | nvjet
      | xmma_(gemm|implicit|sparse|fprop|dgrad|wgrad)
      | cutlass.{0,500}?(gemm|conv).{0,500}?(tensorop|sm90|sm100) | flash_(fwd|bwd)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_AMD = re.compile(
    r"_MI\d+x\d+x\d | mfma | wmma | xdlops | gemm_xdl | TileFmha(Bwd)?Shape< | TileGemmShape< | Custom_Cijk_",
    re.VERBOSE,
)
_NEITHER = re.compile(
    r"""^(loop_|wrapped_|input_|copy_|concatenate|transpose|reduce)  # XLA's own emitters of elementwise work
      | simt | ^void\ Eigen:: | tensorflow::functor | (^|[^a-z])(nccl|rccl) | ^__amd_rocclr
      | vectorized_elementwise | FillPhilox | cub:: | thrust::
    """,
    re.VERBOSE | re.IGNORECASE,
)
_HALF = re.compile(r"-(start|done|update)$")
_COLLECTIVE = re.compile(r"(^|[^a-z])(nccl|rccl|msccl)", re.IGNORECASE)


def uses_tensor_cores(names: Texts, runs_code: NDArray[np.bool_], vendors: Collection[str]) -> Texts:
    """Return whether kernels use tensor cores (AMD: matrix cores), by name; None where the name does not tell.

    Parameters
    ----------
    runs_code
        Which are kernels; a copy uses none.
    vendors
        Of the host's GPUs; names of the other vendor's kernels mean nothing.
    """
    patterns = [
        pattern
        for vendor, pattern in (("AMD", _AMD), ("NVIDIA", _NVIDIA))
        if not {"AMD", "NVIDIA"} & set(vendors) or vendor in vendors
    ]
    told = {name: _told(name, patterns) for name in set(names)}
    return np.array([told[name] if code else False for name, code in zip(names, runs_code, strict=True)], object)


def _told(name: str, patterns: list[re.Pattern[str]]) -> bool | None:
    if any(pattern.search(name) for pattern in patterns):
        return True
    return False if _NEITHER.search(name) else None


def is_collective(names: Texts, categories: Texts) -> NDArray[np.bool_]:
    """Return which kernels move data between devices for a collective: of NCCL or RCCL, or of a collective op."""
    by_name = {name: _COLLECTIVE.search(name) is not None for name in set(names)}
    by_category = {text: _HALF.sub("", text or "") in COLLECTIVE_OPCODES for text in set(categories)}
    named = zip(names, categories, strict=True)
    return np.array([by_name[name] or by_category[category] for name, category in named], np.bool_)
