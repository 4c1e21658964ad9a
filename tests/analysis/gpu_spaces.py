"""Made-up GPU profiles: what CUDA's and ROCm's tracers write, kernel by kernel."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import xprof_nb as xp
from tests.formats.hlo_messages import parsed, proto_of
from tests.xspace_builder import LineBuilder, PlaneBuilder, SpaceBuilder

US = 10**6
V100 = {
    "device_vendor": "Nvidia",
    "gpu_device_name": "Tesla V100-SXM2-16GB",
    "core_count": 80,
    "clock_rate": 1530000,
    "memory_bandwidth": 898048000000,
    "memory_size": 16945512448,
    "compute_cap_major": 7,
    "compute_cap_minor": 0,
}
H100 = {
    "device_vendor": "Nvidia",
    "gpu_device_name": "NVIDIA H100 80GB HBM3",
    "core_count": 132,
    "clock_rate": 1980000,
    "memory_bandwidth": 3352320000000,
    "memory_size": 85029158912,
    "compute_cap_major": 9,
    "compute_cap_minor": 0,
}
DETAILS = "regs:32 static_shared:1024 dynamic_shared:2048 grid:160,1,1 block:256,1,1 occ_pct:50"
LAUNCH = "cuLaunchKernel"


class GpuSpace:
    """A profile of GPUs under construction; times are in us."""

    def __init__(self, stop_us: float = 1000, **programs: str) -> None:
        self.space = SpaceBuilder()
        self.space.task_environment(0, int(stop_us * 1000))
        self.host = self.space.plane("/host:CPU")
        self.numbers = {name: number for number, name in enumerate(programs, 1)}
        if programs:
            protos = {f"{name}({self.numbers[name]})": proto_of(parsed(text)) for name, text in programs.items()}
            self.space.hlo(protos)
        self.launches: dict[int, LineBuilder] = {}
        self.correlation = 0

    def gpu(self, ordinal: int = 0, stats: dict[str, Any] | None = None) -> PlaneBuilder:
        """Add a GPU."""
        return self.space.plane(f"/device:GPU:{ordinal}", V100 if stats is None else stats)

    def kernel(self, stream: LineBuilder, name: str, start: float, duration: float, op: str = "", **stats: Any) -> None:
        """Add a kernel of op ``module/op``, or of none; ``launch=`` is when the host asked for it, ``line=`` where."""
        launch, line = stats.pop("launch", None), stats.pop("line", None)
        module, _, op = op.rpartition("/")
        of_op = {"hlo_op": op, "hlo_module": module, "program_id": self.numbers.get(module, 0)} if op else {}
        self.correlation += 1
        details = {} if "memcpy_details" in stats else {"kernel_details": DETAILS}
        known = {"correlation_id": self.correlation, **details, **of_op, **stats}
        stream.event(name, int(start * US), int(duration * US), **known)
        if launch is not None:
            calls = line or self.launches.setdefault(0, self.host.line("driver"))
            calls.event(LAUNCH, int(launch * US), US // 10, correlation_id=self.correlation)

    def open(self, folder: Path) -> xp.Profile:
        """Write the profile and open it."""
        return xp.open(self.write(folder))

    def write(self, folder: Path) -> Path:
        """Write the profile."""
        return self.space.write(folder)


def add_module(size: int = 1000) -> str:
    """Return a program of two ops in a row."""
    return f"""HloModule m
ENTRY e {{
 p = f32[{size}]{{0}} parameter(0)
 add.1 = f32[{size}]{{0}} add(p, p)
 ROOT multiply.2 = f32[{size}]{{0}} multiply(add.1, p)
}}"""


def loop_module() -> str:
    """Return a program with an op in a loop and one after it."""
    return """HloModule m
body {
 s = (s32[], f32[8]{0}) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 v = f32[8]{0} get-tuple-element(s), index=1
 inner.1 = f32[8]{0} add(v, v)
 ROOT t = (s32[], f32[8]{0}) tuple(i, inner.1)
}
condition {
 s = (s32[], f32[8]{0}) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 ROOT less = pred[] compare(i, i), direction=LT
}
ENTRY e {
 p = (s32[], f32[8]{0}) parameter(0)
 while.1 = (s32[], f32[8]{0}) while(p), condition=condition, body=body
 v2 = f32[8]{0} get-tuple-element(while.1), index=1
 ROOT last.1 = f32[8]{0} add(v2, v2)
}"""


def gemm_module(size: int, dtype: str = "bf16") -> str:
    """Return a matrix multiplication handed to cuBLASLt."""
    shape = f"{dtype}[{size},{size}]{{1,0}}"
    config = '{"gemm_backend_config":{"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"],"rhs_contracting_dimensions":["0"]}}}'  # noqa: E501
    return f"""HloModule m
ENTRY e {{
 a = {shape} parameter(0)
 b = {shape} parameter(1)
 ROOT cublas.1 = ({shape}, s8[4194304]{{0}}) custom-call(a, b), custom_call_target="__cublas$lt$matmul", backend_config={config}
}}"""  # noqa: E501
