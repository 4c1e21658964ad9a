"""One line of HLO text for every opcode XLA's cost analysis tells apart, and a module around it."""

from __future__ import annotations

import re

PARAMETERS = {
    "p": "f32[6,5]{1,0}", "q": "f32[6,5]{1,0}", "i": "s32[6,5]{1,0}", "c": "c64[6,5]{1,0}", "s": "f32[]", "z": "s32[]",
    "m": "pred[6,5]{1,0}", "m1": "pred[]", "u": "f32[2,3]{1,0}", "w": "f32[3,5]{1,0}", "sq": "f32[4,7,7]{2,1,0}",
    "rhs": "f32[4,7,3]{2,1,0}", "st": "u64[2]{0}", "gi": "s32[2,1]{1,0}", "su": "f32[2,5]{1,0}",
    "sui": "s32[2,5]{1,0}", "d1": "f32[4,6,7]{2,1,0}", "d2": "f32[4,7,5]{2,1,0}", "b8": "s8[6,5]{1,0}",
    "tt": "(f32[6,5]{1,0}, s32[6,5]{1,0})", "tok": "token[]", "u5": "u32[6,5]{1,0}", "v5": "f32[5]{0}",
    "wt": "(f32[6,5]{1,0}, s32[])", "ct": "(f32[6,5]{1,0}, f32[6,5]{1,0}, u32[])", "a8": "f32[8,5]{1,0}",
    "nt": "(f32[8,5]{1,0}, (f32[3,5]{1,0}, s32[]))",
}  # fmt: skip

COMPUTATIONS = """
add { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT r = f32[] add(a,b) }
mulexp { a = f32[] parameter(0)
 b = f32[] parameter(1)
 c = f32[] multiply(a,b)
 ROOT r = f32[] exponential(c) }
ge { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT r = pred[] compare(a,b), direction=GE }
ge2 { a = f32[] parameter(0)
 b = f32[] parameter(1)
 i = s32[] parameter(2)
 j = s32[] parameter(3)
 ROOT p = pred[] compare(a,b), direction=GT }
unary { a = f32[] parameter(0)
 b = f32[] tanh(a)
 ROOT r = f32[] add(b,b) }
argmax { a = f32[] parameter(0)
 i = s32[] parameter(1)
 b = f32[] parameter(2)
 j = s32[] parameter(3)
 p = pred[] compare(a,b), direction=GT
 x = f32[] select(p,a,b)
 y = s32[] select(p,i,j)
 ROOT r = (f32[],s32[]) tuple(x,y) }
twice { p = f32[6,5]{1,0} parameter(0)
 a = f32[6,5]{1,0} add(p,p)
 ROOT b = f32[6,5]{1,0} add(a,p) }
curve { p = f32[6,5]{1,0} parameter(0)
 ROOT a = f32[6,5]{1,0} tanh(p) }
condition { p = (f32[6,5]{1,0},s32[]) parameter(0)
 g = s32[] get-tuple-element(p), index=1
 ROOT r = pred[] compare(g,g), direction=LT }
body { p = (f32[6,5]{1,0},s32[]) parameter(0)
 g = s32[] get-tuple-element(p), index=1
 a = f32[6,5]{1,0} get-tuple-element(p), index=0
 b = f32[6,5]{1,0} tanh(a)
 ROOT r = (f32[6,5]{1,0},s32[]) tuple(b,g) }
moving { p = f32[6,5]{1,0} parameter(0)
 ROOT a = f32[6,5]{1,0} all-to-all(p), replica_groups={{0,1}}, dimensions={0} }
gathering { p = f32[6,5]{1,0} parameter(0)
 i = s32[2,1]{1,0} parameter(1)
 g = f32[2,5]{1,0} gather(p,i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,5}
 ROOT t = f32[2,5]{1,0} tanh(g) }
slicing { a = f32[8,5]{1,0} parameter(0)
 b = f32[2,5]{1,0} slice(a), slice={[0:2],[0:5]}
 ROOT c = f32[2,5]{1,0} tanh(b) }
nesting { p = f32[8,5]{1,0} parameter(0)
 x = f32[2,5]{1,0} fusion(p), kind=kLoop, calls=slicing
 z = f32[8,5]{1,0} add(p,p)
 ROOT t = (f32[2,5]{1,0},f32[8,5]{1,0}) tuple(x,z) }
unpacking { p = (f32[8,5]{1,0}, (f32[3,5]{1,0},s32[])) parameter(0)
 a = f32[8,5]{1,0} get-tuple-element(p), index=0
 q = (f32[3,5]{1,0},s32[]) get-tuple-element(p), index=1
 b = f32[3,5]{1,0} get-tuple-element(q), index=0
 c = f32[3,5]{1,0} slice(a), slice={[0:3],[0:5]}
 ROOT d = f32[3,5]{1,0} add(b,c) }
updating { p = f32[6,5]{1,0} parameter(0)
 u = f32[2,3]{1,0} parameter(1)
 z = s32[] parameter(2)
 n = f32[2,3]{1,0} negate(u)
 d = f32[6,5]{1,0} dynamic-update-slice(p,n,z,z)
 ROOT t = (f32[6,5]{1,0},f32[2,3]{1,0}) tuple(d,n) }
constants { p = f32[6,5]{1,0} parameter(0)
 k = f32[5]{0} constant({1,2,3,4,5})
 o = f32[] constant(2)
 b = f32[6,5]{1,0} broadcast(k), dimensions={1}
 ROOT t = f32[6,5]{1,0} add(p,b) }
"""  # noqa: E501

_UNARY = [
    "abs", "acos", "acosh", "asin", "asinh", "atanh", "cbrt", "ceil", "convert", "copy", "cosh", "cosine", "erf",
    "exponential", "exponential-minus-one", "floor", "log", "log-plus-one", "logistic", "negate",
    "round-nearest-afz", "round-nearest-even", "rsqrt", "sign", "sine", "sinh", "sqrt", "tan", "tanh",
]  # fmt: skip
_BINARY = [
    "add", "subtract", "multiply", "divide", "maximum", "minimum", "power", "remainder", "atan2",
]  # fmt: skip
_BITWISE = [
    "and", "or", "xor", "shift-left", "shift-right-arithmetic", "shift-right-logical",
]  # fmt: skip

SNIPPETS = [
    *(f"f32[6,5]{{1,0}} {opcode}(p)" for opcode in _UNARY),
    *(f"f32[6,5]{{1,0}} {opcode}(p,q)" for opcode in _BINARY),
    *(f"s32[6,5]{{1,0}} {opcode}(i,i)" for opcode in _BITWISE),
    *"""
pred[6,5]{1,0} is-finite(p)
s32[6,5]{1,0} not(i)
s32[6,5]{1,0} popcnt(i)
s32[6,5]{1,0} count-leading-zeros(i)
c64[6,5]{1,0} complex(p,q)
f32[6,5]{1,0} real(c)
f32[6,5]{1,0} imag(c)
c64[6,5]{1,0} exponential(c)
f32[6,5]{1,0} reduce-precision(p), exponent_bits=5, mantissa_bits=10
s32[6,5]{1,0} bitcast-convert(p)
bf16[6,5]{1,0} convert(p)
f8e4m3fn[6,5]{1,0} convert(p)
s4[6,5]{1,0} convert(p)
s4[6,5]{1,0:E(4)} convert(p)
f32[6,5]{1,0} clamp(s,p,s)
f32[6,5]{1,0} select(m,p,q)
pred[6,5]{1,0} compare(p,q), direction=LT
f32[6,5]{1,0} map(p), dimensions={0,1}, to_apply=unary
f32[6,5]{1,0} broadcast(s), dimensions={}
f32[5,6]{0,1} transpose(p), dimensions={1,0}
f32[5,6]{1,0} transpose(p), dimensions={1,0}
f32[30]{0} reshape(p)
f32[30]{0} bitcast(p)
f32[6,5]{1,0} reverse(p), dimensions={0}
f32[12,5]{1,0} concatenate(p,q), dimensions={0}
f32[8,9]{1,0} pad(p,s), padding=1_1_0x0_0_1
s32[6,5]{1,0} iota(), iota_dimension=0
f32[2,3]{1,0} slice(p), slice={[0:2:1], [0:5:2]}
f32[2,3]{1,0} dynamic-slice(p,z,z), dynamic_slice_sizes={2,3}
f32[6,5]{1,0} dynamic-update-slice(p,u,z,z)
f32[6]{0} reduce(p,s), dimensions={1}, to_apply=mulexp
f32[] reduce(p,s), dimensions={0,1}, to_apply=add
(f32[6]{0}, s32[6]{0}) reduce(p,i,s,z), dimensions={1}, to_apply=argmax
f32[3,5]{1,0} reduce-window(p,s), window={size=2x1 stride=2x1}, to_apply=add
f32[6,5]{1,0} reduce-window(p,s), window={size=11x1 pad=5_5x0_0}, to_apply=add
f32[6,5]{1,0} reduce-window(p,s), window={size=6x1 pad=5_0x0_0}, to_apply=add
f32[6,5]{1,0} reduce-window(p,s), window={size=3x1 pad=1_1x0_0}, to_apply=mulexp
f32[6,5]{1,0} select-and-scatter(p,w,s), window={size=2x1 stride=2x1}, select=ge, scatter=add
f32[6,5]{1,0} sort(p), dimensions={1}, to_apply=ge
(f32[6,5]{1,0}, s32[6,5]{1,0}) sort(p,i), dimensions={1}, to_apply=ge2
c64[6,5]{1,0} fft(c), fft_type=FFT, fft_length={5}
c64[6,3]{1,0} fft(p), fft_type=RFFT, fft_length={6,5}
f32[4,7,7]{2,1,0} cholesky(sq), lower=true
f32[4,7,3]{2,1,0} triangular-solve(sq,rhs), left_side=true, lower=true, transpose_a=NO_TRANSPOSE
f32[6,5]{1,0} rng(s,s), distribution=rng_uniform
(u64[2]{0}, u32[6,5]{1,0}) rng-bit-generator(st), algorithm=rng_three_fry
u64[2]{0} rng-get-and-update-state(), delta=1
f32[2,5]{1,0} gather(p,gi), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,5}
f32[6,5]{1,0} scatter(p,gi,su), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=mulexp
(f32[6,5]{1,0}, s32[6,5]{1,0}) scatter(p,i,gi,su,sui), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=argmax
f32[6,5]{1,0} all-reduce(p), replica_groups={}, to_apply=add
(f32[6,5]{1,0}, f32[6,5]{1,0}) all-reduce(p,q), replica_groups={}, to_apply=add
f32[12,5]{1,0} all-gather(p), replica_groups={{0,1}}, dimensions={0}
f32[3,5]{1,0} reduce-scatter(p), replica_groups={{0,1}}, dimensions={0}, to_apply=add
f32[6,5]{1,0} all-to-all(p), replica_groups={{0,1}}, dimensions={0}
f32[6,5]{1,0} collective-permute(p), source_target_pairs={{0,1},{1,0}}
(f32[6,5]{1,0}, f32[12,5]{1,0}) all-gather-start(p), replica_groups={{0,1}}, dimensions={0}
(f32[6,5]{1,0}, f32[6,5]{1,0}) collective-permute-start(p), source_target_pairs={{0,1},{1,0}}
(f32[6,5]{1,0}, f32[6,5]{1,0}, u32[]) copy-start(p)
f32[6,5]{1,0} copy-done(ct)
((f32[6,5]{1,0}), f32[6,5]{1,0}, s32[]) async-start(p), calls=twice
f32[4,6,5]{2,1,0} dot(d1,d2), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}
c64[6,6]{1,0} dot(c,c), lhs_contracting_dims={1}, rhs_contracting_dims={1}
s32[6,6]{1,0} dot(b8,b8), lhs_contracting_dims={1}, rhs_contracting_dims={1}
u32[] partition-id()
u32[] replica-id()
token[] after-all()
(f32[6,5]{1,0}, s32[6,5]{1,0}) tuple(p,i)
(f32[6,5]{1,0}, (f32[6,5]{1,0}, s32[6,5]{1,0})) tuple(p,tt)
(f32[6,5]{1,0}, s32[6,5]{1,0}) opt-barrier(tt)
(f32[2,3]{1,0}, s32[2,3]{1,0}) topk(p), k=3, largest=true
s32[] get-dimension-size(p), dimensions={0}
f32[<=6,5]{1,0} set-dimension-size(p,z), dimensions={0}
f32[6,5]{1,0} add-dependency(p,tok)
((f32[6,5]{1,0}), token[]) infeed(tok)
f32[6,5]{1,0} stochastic-convert(p,u5)
f32[6,5]{1,0} batch-norm-inference(p,v5,v5,v5,v5), epsilon=0.1, feature_index=1
f32[6,5]{1,0} conditional(m1,p,p), true_computation=%twice, false_computation=%curve
f32[6,5]{1,0} conditional(z,p,p), branch_computations={%twice, %curve}
f32[6,5]{1,0} call(p), to_apply=twice
(f32[6,5]{1,0}, s32[]) while(wt), condition=condition, body=body
f32[6,5]{1,0:S(5)} copy(p)
f32[2,5]{1,0} fusion(p,gi), kind=kCustom, calls=gathering
f32[2,5]{1,0} fusion(p,gi), kind=kLoop, calls=gathering
(f32[2,5]{1,0}, f32[8,5]{1,0}) fusion(a8), kind=kLoop, calls=nesting
f32[3,5]{1,0} fusion(nt), kind=kLoop, calls=unpacking
(f32[6,5]{1,0}, f32[2,3]{1,0}) fusion(p,u,z), kind=kLoop, calls=updating
f32[6,5]{1,0} fusion(p), kind=kLoop, calls=constants
""".strip().splitlines(),  # noqa: E501
]


def module_text(snippet: str) -> str:
    """Return a module whose entry is parameters and the snippet."""
    arguments = re.search(r" [\w\-]+\(([^)]*)\)", snippet)
    assert arguments is not None
    names = dict.fromkeys(name for name in re.findall(r"\w+", arguments.group(1)) if name in PARAMETERS)
    parameters = "".join(f" {name} = {PARAMETERS[name]} parameter({i})\n" for i, name in enumerate(names))
    return f"HloModule x\n{COMPUTATIONS}\nENTRY e {{\n{parameters} ROOT x = {snippet}\n}}\n"
