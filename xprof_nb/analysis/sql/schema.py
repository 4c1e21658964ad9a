"""The tables of `Profile.sql`: what is in each column, of which type, in which unit."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import pandas as pd


class Column(NamedTuple):
    """A column of a table; ``type`` is ``text, whole, unsigned, number`` or ``truth``."""

    name: str
    type: str
    meaning: str

    @property
    def unit(self) -> str:
        """What the name says its numbers are in."""
        if self.type in ("text", "truth"):
            return ""
        return next((unit for ending, unit in _UNITS.items() if self.name.endswith(ending)), "")


_UNITS = {
    "flops_per_s": "FLOP/s",
    "bytes_per_s": "B/s",
    "_ps": "ps",
    "bytes": "B",
    "bytes_accessed": "B",
    "flops": "FLOP",
    "_fraction": "of 1",
    "_utilization": "of 1",
    "arithmetic_intensity": "FLOP/B",
}
# A line is: column, type, meaning. The meaning of a column that several tables have is said once.
_SHARED = """
host text host, as its file is named
device text device of that host: TPU:0
program text XLA program, the name of its HLO module
program_id unsigned id of the program, unambiguous over all hosts
op text HLO name, unique in its program
category text kind of op in the compiler's words
framework_op text path of the framework's op, with its named scopes
source text file:line of the user's code
start_ps whole begin on the profile's clock, which starts with the capture of the earliest host
duration_ps whole from begin to end
occurrences whole executions that the row stands for
time_ps number sum of durations, with what ran inside
self_time_ps number device time of its own: without what ran inside, an equal share where ops overlap
flops number floating-point operations of all occurrences
bytes_accessed number bytes read and written, of every memory
hbm_bytes number bytes to and from the main memory
run_id whole the execution of a program it belongs to
step whole number of the marked, recorded or inferred step, missing outside of any
shape text shape with its layout
dtype text element type
opcode text HLO opcode
"""
_TABLES = {
    "events": """
plane text plane of the file: /device:TPU:0, /host:CPU
line text thread, stream or lane
name text name as a trace viewer shows it
host device start_ps duration_ps occurrences
""",
    "ops": """
work_kind text compute, memory, collective, host, control
flops_per_s number flops over self time
bytes_per_s number bytes over self time, of an asynchronous transfer over the time the bytes travelled
hbm_bytes_per_s number the same of the main memory's bytes
time_fraction number self time over the device time of the whole selection
model_flops number FLOPs as the model states them
arithmetic_intensity number flops over bytes_accessed
bound_by text the resource nearest to its peak: compute, memory, link, host
flops_utilization number flops_per_s over the device's peak
hbm_utilization number hbm_bytes_per_s over the device's peak
wasted_fraction number share of the whole time that the busiest resource left unused in this op
host device program program_id op category framework_op source occurrences time_ps self_time_ps flops bytes_accessed
hbm_bytes
""",
    "op_events": """
host_start_ps whole begin on the host's clock, where the device has a clock of its own
is_container truth other ops ran inside: a loop, a call, a branch
host device program program_id op category framework_op start_ps duration_ps self_time_ps run_id step occurrences
""",
    "steps": """
name text name of the annotation, or of the program it is inferred from
kind text marked by the program, recorded by the runtime, or inferred
step_time_ps number from this step's start to the next one's
busy_time_ps number device time its ops account for
idle_time_ps number the rest of its duration
compile_time_ps number how long the host compiled before the next one
is_partial truth cut by an edge of the capture
cut text where it is cut
host device step start_ps duration_ps
""",
    "runs": """
host device program program_id run_id start_ps duration_ps
""",
    "instructions": """
name text HLO name, unique in its program; op in other tables
computation text computation it belongs to
operands text names of what it reads, separated by commas
called text computations it calls, separated by commas
fusion_kind text kLoop, kInput, kOutput, kCustom
custom_call_target text what a custom call calls
flops number floating-point operations of one execution
bytes_accessed number bytes read and written by one execution
program program_id opcode shape category framework_op source
""",
    "buffers": """
name text value that holds the buffer
bytes number what it takes
unpadded_bytes number what its shape needs without padding
padding_bytes number the difference
kind text what it is for
memory_space whole XLA's number, 0 the main memory
allocation whole allocation it is a part of
offset_bytes number where in the allocation
start whole position in program order at which it begins to live
end whole position at which it is last needed
live_at_peak truth alive when the program needs most
program program_id op opcode shape dtype framework_op source
""",
    "allocations": """
allocator text allocator, as it calls itself
kind text allocation or free
bytes number taken or given back
requested_bytes number asked for
lifetime_ps number until it was freed
heap_bytes number allocated after the event
stack_bytes number reserved for running programs after the event
free_bytes number available after the event
total_bytes number heap and stack
capacity_bytes number total and free
fragmentation_fraction number of the free memory
region text what the memory is for
caller text innermost event of the thread that was running
host device start_ps framework_op shape dtype
""",
    "kernels": """
kernel text kernel, or kind of copy
kind text kernel, or the direction of a copy
mean_time_ps number mean duration
min_time_ps number shortest
max_time_ps number longest
grid text blocks: 160,1,1
block text threads of a block: 256,1,1
registers_per_thread number registers of the processor
static_shared_bytes number shared memory, fixed at compilation
dynamic_shared_bytes number shared memory, asked for at launch
occupancy_fraction number resident warps over the most there can be
uses_tensor_cores truth by the kernel's name
bytes number bytes copied or filled
bytes_per_s number those over time
streams text streams it ran on
host device program program_id op category framework_op occurrences time_ps
""",
    "devices": """
backend text tpu, gpu, cpu
ordinal whole number in the name
model text model, as the runtime calls it
chip whole chip of its host that it is on
global_chip whole chip among those of all hosts
peak_flops_dtype text element type that the peak is of
peak_flops_per_s number most it can compute
peak_hbm_bytes_per_s number peak of the main memory
capacity_bytes number size of the main memory
host device
""",
    "programs": """
has_hlo truth the profile describes its instructions
instruction_count whole instructions of all computations
replica_count whole copies that run at once
num_partitions whole devices one copy is split over
program program_id
""",
}


@cache
def columns(table: str) -> tuple[Column, ...]:
    """Return the columns of a table."""
    shared = {column.name: column for column in _described(_SHARED)}
    own = [*_described(_TABLES[table])]
    names = {column.name for column in own}
    return (*(shared[name] for name in _listed(_TABLES[table]) if name not in names), *own)


def tables() -> tuple[str, ...]:
    """Return the names of the tables."""
    return tuple(_TABLES)


def schema() -> pd.DataFrame:
    """Return one row a column: ``table, column, type, unit, meaning``."""
    import pandas as pd  # noqa: PLC0415 - checking a statement needs the names alone

    rows = [
        (table, column.name, column.type, column.unit, column.meaning) for table in _TABLES for column in columns(table)
    ]
    return pd.DataFrame(rows, columns=["table", "column", "type", "unit", "meaning"])


_TYPES = ("text", "whole", "unsigned", "number", "truth")


def _described(text: str) -> list[Column]:
    parts = [line.split(" ", 2) for line in text.strip().splitlines()]
    return [Column(*part) for part in parts if len(part) == 3 and part[1] in _TYPES]


def _listed(text: str) -> list[str]:
    """Return the names of the shared columns of a table."""
    lines = [line.split() for line in text.strip().splitlines()]
    return [name for words in lines if len(words) < 2 or words[1] not in _TYPES for name in words]
