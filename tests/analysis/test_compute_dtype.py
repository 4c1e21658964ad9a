"""Utilisation against the element type really used: HLO written out, on made-up devices of known peaks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xprof_nb as xp
from tests.analysis.tpu_spaces import PEAKS, Op, core
from tests.formats.hlo_messages import parsed, program_of, proto_of
from tests.xspace_builder import SpaceBuilder
from xprof_nb.analysis.compute_dtype import Arithmetic, arithmetic, family
from xprof_nb.analysis.costs.table import instruction_costs
from xprof_nb.model.device import Device

N = 1024
TPU = Device("h", "tpu", 0, "TPU:0", model="TPU v5 lite")
H100 = Device("h", "gpu", 0, "GPU:0", model="NVIDIA H100 80GB HBM3")
MI300X = Device("h", "gpu", 0, "GPU:0", model="AMD Instinct MI300X")
CPU = Device("h", "cpu", 0, "CPU:0")


def dot_module(dtype: str, options: str = "", out: str = "f32") -> Any:
    return parsed(f"""HloModule m
ENTRY e {{
  a = {dtype}[{N},{N}]{{1,0}} parameter(0)
  b = {dtype}[{N},{N}]{{1,0}} parameter(1)
  ROOT d = {out}[{N},{N}]{{1,0}} dot(a, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}{options}
}}""")


def of(module: Any, device: Device, name: str = "") -> Arithmetic:
    program = program_of(module)
    instruction = program.instruction(name) or program.instruction(program.computations[program.entry].root)
    assert instruction is not None
    return arithmetic(instruction, program, instruction_costs(program), device)


HIGHEST, HIGH = (f", operand_precision={{{name},{name}}}" for name in ("highest", "high"))


@pytest.mark.parametrize(
    ("dtype", "options", "device", "expected"),
    [
        ("bf16", "", TPU, ("bf16", None, 1)),
        ("f32", "", TPU, ("f32", "bf16", 1)),
        ("f32", HIGH, TPU, ("f32", "bf16", 3)),
        ("f32", HIGHEST, TPU, ("f32", "bf16", 6)),
        ("f32", "", H100, ("f32", "tf32", 1)),
        ("f32", HIGHEST, H100, ("f32", None, 1)),
        ("f32", ", algorithm=dot_bf16_bf16_f32_x3", H100, ("f32", "bf16", 3)),
        ("f32", ", algorithm=dot_tf32_tf32_f32", H100, ("f32", "tf32", 1)),
        ("f32", "", MI300X, ("f32", None, 1)),
        ("f32", "", CPU, ("f32", None, 1)),
        ("f8e4m3fn", "", H100, ("f8e4m3fn", None, 1)),
        ("f64", "", H100, ("f64", None, 1)),
    ],
)
def test_what_a_dot_multiplies(
    dtype: str, options: str, device: Device, expected: tuple[str, str | None, float]
) -> None:
    assert of(dot_module(dtype, options, "f64" if dtype == "f64" else "f32"), device) == expected


def test_the_type_of_operands_counts_and_not_that_of_the_result() -> None:
    assert of(dot_module("bf16", out="f32"), TPU).dtype == "bf16"
    assert of(dot_module("s8", out="s32"), TPU).dtype == "s8"


def test_a_fusion_computes_as_its_costliest_multiplication() -> None:
    module = parsed("""HloModule m
inner {
  a = bf16[64,64]{1,0} parameter(0)
  b = f32[8,8]{1,0} parameter(1)
  small = f32[8,8]{1,0} dot(b, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  large = f32[64,64]{1,0} dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = (f32[64,64]{1,0}, f32[8,8]{1,0}) tuple(large, small)
}
ENTRY e {
  a = bf16[64,64]{1,0} parameter(0)
  b = f32[8,8]{1,0} parameter(1)
  ROOT f = (f32[64,64]{1,0}, f32[8,8]{1,0}) fusion(a, b), kind=kOutput, calls=inner
}""")
    assert of(module, TPU) == ("bf16", None, 1)


def test_what_moves_data_computes_in_nothing_and_a_comparison_in_what_it_compares() -> None:
    module = parsed("""HloModule m
ENTRY e {
  a = bf16[64,64]{1,0} parameter(0)
  c = bf16[64,64]{1,0} copy(a)
  s = bf16[64,64]{1,0} add(c, c)
  x = bf16[64,64]{1,0} exponential(s)
  ROOT p = pred[64,64]{1,0} compare(x, s), direction=LT
}""")
    names = {i.opcode: i.name for i in program_of(module).instructions.values()}
    assert of(module, TPU, names["copy"]).dtype is None
    assert of(module, TPU, names["add"]).dtype == "bf16"
    assert of(module, TPU, names["exponential"]).dtype == "bf16"
    assert of(module, TPU, names["compare"]).dtype == "bf16"


def test_names_under_which_peaks_are_stated() -> None:
    assert [family(name) for name in ("f8e5m2", "f4e2m1fn", "u8", "s4", "c64", "bf16", None)] == [
        "f8", "f4", "s8", "s4", "f32", "bf16", None,
    ]  # fmt: skip


def profile_of(folder: Path, modules: dict[int, tuple[Any, str]], **stats: Any) -> xp.Profile:
    """Return a profile in which the root of each program ran once, for 100 us."""
    space = SpaceBuilder()
    ops, events = [], []
    for row, (program, (_, name)) in enumerate(modules.items()):
        ops.append(Op(name, "convolution fusion", program=program, stats={}))
        events.append((row, row * 0.2, 0.1))
    plane = core(space, 0, ops, events, **stats)
    for entry in plane.message.event_metadata.values():  # the runtime states no costs: they come from the program
        names = {plane.message.stat_metadata[stat.metadata_id].name: stat for stat in entry.stats}
        for stat in ("flops", "model_flops", "bytes_accessed"):
            if stat in names:
                entry.stats.remove(names[stat])
    space.hlo({f"jit_p({program})": proto_of(module) for program, (module, _) in modules.items()})
    return xp.open(space.write(folder))


def test_each_op_is_measured_against_the_roof_of_its_own_type(tmp_path: Path) -> None:
    """2n^3 FLOPs in 100 us: the same work, three roofs of the TPU v5e: 197 TFLOP/s, a sixth of it, 394 TOP/s."""
    modules = {
        1: (dot_module("bf16"), "d"), 2: (dot_module("f32", HIGHEST), "d"), 3: (dot_module("s8", out="s32"), "d"),
    }  # fmt: skip
    profile = profile_of(tmp_path, modules)
    frame = profile.ops().frame.set_index("program_id")
    rate = 2 * N**3 / 100e-6
    assert frame["flops_per_s"].tolist() == pytest.approx([rate] * 3)
    assert frame["roof_dtype"].to_dict() == {1: "bf16", 2: "bf16 / 6", 3: "s8"}
    assert frame["compute_dtype"].to_dict() == {1: "bf16", 2: "f32", 3: "s8"}
    used = frame["flops_utilization"]
    assert used[1] == pytest.approx(rate / 197e12)
    assert used[2] == pytest.approx(rate / (197e12 / 6))
    assert used[3] == pytest.approx(rate / 394e12)
    notes = profile.ops().notes
    assert any("bf16 / 6" in note and "passes" in note for note in notes)
    used_roofs = {roof["roof"]: roof for roof in profile.ops().summary["roofs_used"]}
    assert used_roofs["bf16 / 6"]["flops_per_s"] == pytest.approx(197e12 / 6)
    assert (used_roofs["s8"]["label"], used_roofs["bf16"]["label"]) == ("datasheet", "profile")
    assert profile.op_profile().summary["roofs_used"] == profile.ops().summary["roofs_used"]
    root = profile.op_profile().frame.iloc[0]
    total_s = profile.ops().summary["total_time_ps"] * 1e-12
    assert root["flops_utilization"] == pytest.approx(sum(used * 100e-6) / total_s)
    overview = profile.overview().summary
    assert overview["flops_utilization"] == pytest.approx(root["flops_utilization"])
    shares = {entry["dtype"]: entry for entry in overview["precision"]}
    assert shares["f32"]["time_fraction"] == pytest.approx(1 / 3)
    assert shares["s8"]["flops_fraction"] == pytest.approx(1 / 3)
    assert overview["compute_16bit_time_fraction"] == pytest.approx(1 / 3)
    old = profile.ops(compat="xprof").frame.set_index("program_id")
    assert old["flops_utilization"].tolist() == pytest.approx([rate / 197e12] * 3)


def test_a_type_without_a_known_peak_says_against_what_it_is_measured(tmp_path: Path) -> None:
    profile = profile_of(tmp_path, {1: (dot_module("f64", out="f64"), "d")})
    row = profile.ops().frame.iloc[0]
    assert (row["compute_dtype"], row["roof_dtype"]) == ("f64", "bf16")
    assert any("no f64 peak of this device is known" in note for note in profile.ops().notes)
    xp.hardware("TPU v5e", f64_flops=1e12)
    try:
        row = profile.ops().frame.iloc[0]
        assert (row["roof_dtype"], row["flops_utilization"]) == ("f64", pytest.approx(2 * N**3 / 100e-6 / 1e12))
    finally:
        xp.hardware("TPU v5e", f64_flops=None)


def test_what_the_runtime_normalised_to_bf16_is_counted_once(tmp_path: Path) -> None:
    """A runtime that counts 6 FLOPs for each of an f32 multiplication: the model's are shown, a sixth is the roof."""
    space = SpaceBuilder()
    core(space, 0, [Op("d", "convolution fusion", flops=6 * 10**10, model_flops=10**10)], [(0, 0, 1)])
    row = xp.open(space.write(tmp_path)).ops().frame.iloc[0]
    assert row["flops"] == 10**10
    assert row["roof_dtype"] == "bf16 / 6"
    assert row["flops_utilization"] == pytest.approx(6e10 / 1e-3 / (PEAKS["peak_teraflops_per_second"] * 1e12))


def test_no_peak_is_no_utilisation(tmp_path: Path) -> None:
    unknown = dict.fromkeys((name for name in PEAKS if name.startswith("peak")), 0.0)
    profile = profile_of(tmp_path, {1: (dot_module("bf16"), "d")}, device_type_string="", **unknown)
    row = profile.ops().frame.iloc[0]
    assert np.isnan([row["flops_utilization"], row["hbm_utilization"], row["roof_flops_per_s"]]).all()
    assert row["roof_dtype"] is None
    assert profile.overview().summary["flops_utilization"] is None
