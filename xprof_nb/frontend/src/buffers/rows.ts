/** The buffers of an answer, and what its summary says of them. */
import { type Columns, numberAt, stringAt } from '../columns';
import type { Summary } from '../host';
import { number, record, text } from '../payload';

export interface Buffer {
  readonly row: number;
  readonly name: string;
  readonly op: string | null;
  readonly opcode: string;
  readonly shape: string;
  readonly dtype: string;
  /** What it is for: parameter, output, constant, temporary. */
  readonly kind: string;
  readonly workKind: string | null;
  readonly bytes: number;
  readonly unpadded_bytes: number;
  readonly padding_bytes: number;
  readonly start: number;
  readonly end: number;
  readonly framework: string;
  readonly scope: string;
  readonly source: string;
  readonly shared: string;
}

/** The buffers of some rows that are live at the peak. */
export function liveAtPeak(table: Columns, rows: Iterable<number>): Buffer[] {
  return [...rows]
    .filter((row) => numberAt(table, 'live_at_peak', row) === 1)
    .map((row) => bufferAt(table, row));
}

export function bufferAt(table: Columns, row: number): Buffer {
  const word = (name: string) => stringAt(table, name, row) ?? '';
  const value = (name: string) => numberAt(table, name, row);
  return {
    row,
    name: word('name'),
    op: stringAt(table, 'op', row),
    opcode: word('opcode'),
    shape: word('shape'),
    dtype: word('dtype'),
    kind: word('kind'),
    workKind: stringAt(table, 'work_kind', row),
    bytes: value('bytes'),
    unpadded_bytes: value('unpadded_bytes'),
    padding_bytes: value('padding_bytes'),
    start: value('start'),
    end: value('end'),
    framework: word('framework_op'),
    scope: word('scope'),
    source: word('source'),
    shared: word('shared_with')
  };
}

/** Where the live bytes change: from this position of the program on. */
export interface CurvePoint {
  readonly position: number;
  readonly op: string;
  readonly live_bytes: number;
}

/** What a program needs of one memory space. */
export interface Need {
  readonly program: string;
  readonly program_id: string;
  readonly memory_space: number;
  readonly memory: string;
  readonly peak_bytes: number;
  readonly unpadded_peak_bytes: number;
  readonly peak_position: number;
  readonly peak_op: string;
  readonly position_count: number;
  readonly parameter_bytes: number;
  readonly output_bytes: number;
  readonly aliased_bytes: number;
  readonly constant_bytes: number;
  /** NaN when nobody states it. */
  readonly capacity_bytes: number;
  readonly curve: readonly CurvePoint[];
  readonly programs: readonly {
    readonly name: string;
    readonly id: string;
    readonly allocated_bytes: number;
  }[];
  readonly spaces: readonly { readonly space: number; readonly name: string; readonly peak_bytes: number }[];
}

export function needOf(summary: Summary): Need {
  const listed = (name: string) =>
    (Array.isArray(summary[name]) ? (summary[name] as unknown[]) : []).map(record);
  const value = (name: string) => number(summary[name]);
  return {
    program: text(summary.program),
    program_id: text(summary.program_id),
    memory_space: value('memory_space'),
    memory: text(summary.memory),
    peak_bytes: value('peak_bytes'),
    unpadded_peak_bytes: value('unpadded_peak_bytes'),
    peak_position: value('peak_position'),
    peak_op: text(summary.peak_op),
    position_count: value('position_count'),
    parameter_bytes: value('parameter_bytes'),
    output_bytes: value('output_bytes'),
    aliased_bytes: value('aliased_bytes'),
    constant_bytes: value('constant_bytes'),
    capacity_bytes: value('capacity_bytes'),
    curve: listed('curve').map(({ position, op, live_bytes }) => ({
      position: number(position),
      op: text(op),
      live_bytes: number(live_bytes)
    })),
    programs: listed('programs').map(({ program, program_id, allocated_bytes }) => ({
      name: text(program),
      id: text(program_id),
      allocated_bytes: number(allocated_bytes)
    })),
    spaces: listed('memory_spaces').map(({ memory_space, memory, peak_bytes }) => ({
      space: number(memory_space),
      name: text(memory),
      peak_bytes: number(peak_bytes)
    }))
  };
}
