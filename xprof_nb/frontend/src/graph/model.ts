/** A neighbourhood of a program: its ops, what is fused into them, and the edges between them. */
import { type Columns, decodeBase64, numberAt, stringAt } from '../columns';
import type { Answer, Summary } from '../host';
import { record, text } from '../payload';

export interface Op {
  readonly name: string;
  readonly opcode: string;
  readonly shape: string;
  readonly computation: string;
  readonly category: string;
  readonly kind: string | null;
  /** The fusion it is part of; null for an op of the neighbourhood itself. */
  readonly inside: string | null;
  readonly distance: number;
  readonly self_time_ps: number;
  readonly time_ps: number;
  readonly bytes_accessed: number;
  readonly flops: number;
  readonly occurrences: number;
  /** How many ops it reads and is read by, drawn or not. */
  readonly operands: number;
  readonly users: number;
  readonly framework: string;
  readonly source: string;
  readonly called: readonly string[];
  readonly hlo: string;
  /** Its row in the table. */
  readonly row: number;
}

/** What one op reads of another: which of its operands, and their shape. */
export interface Edge {
  readonly from: string;
  readonly to: string;
  readonly operand: number;
  readonly shape: string;
}

export interface Neighbourhood {
  readonly ops: ReadonlyMap<string, Op>;
  readonly edges: readonly Edge[];
}

/** Read an answer; `edges` are those a saved view keeps, by row. */
export function neighbourhoodOf({ table, summary }: Answer, edges: string): Neighbourhood {
  const ops = new Map<string, Op>();
  for (let row = 0; row < table.rows; row++) {
    const op = opAt(table, row);
    if (!ops.has(op.name)) {
      ops.set(op.name, op);
    }
  }
  return { ops, edges: edges === '' ? toldEdges(summary, ops) : savedEdges(edges, table) };
}

/** A neighbourhood with what is fused into an op, which was asked for by itself. */
export function withBody(whole: Neighbourhood, fusion: string, body: Neighbourhood): Neighbourhood {
  const ops = new Map(whole.ops);
  const distance = whole.ops.get(fusion)?.distance ?? 0;
  for (const op of body.ops.values()) {
    if (!ops.has(op.name)) {
      ops.set(op.name, { ...op, distance, inside: op.inside ?? fusion, row: Number.NaN });
    }
  }
  return { ops, edges: [...whole.edges, ...body.edges] };
}

/** The ops that are part of each fusion. */
export function bodies({ ops }: Neighbourhood): ReadonlyMap<string, readonly Op[]> {
  const found = new Map<string, Op[]>();
  for (const op of ops.values()) {
    if (op.inside !== null) {
      found.set(op.inside, [...(found.get(op.inside) ?? []), op]);
    }
  }
  return found;
}

function opAt(table: Columns, row: number): Op {
  const word = (name: string) => stringAt(table, name, row) ?? '';
  const value = (name: string) => numberAt(table, name, row);
  return {
    name: word('node'),
    opcode: word('opcode'),
    shape: word('shape'),
    computation: word('computation'),
    category: word('category'),
    kind: stringAt(table, 'work_kind', row),
    inside: stringAt(table, 'inside', row),
    distance: value('distance'),
    self_time_ps: value('self_time_ps'),
    time_ps: value('time_ps'),
    bytes_accessed: value('bytes_accessed'),
    flops: value('flops'),
    occurrences: value('occurrences'),
    operands: value('operand_count'),
    users: value('user_count'),
    framework: word('framework_op'),
    source: word('source'),
    called: word('called').split(', ').filter(Boolean),
    hlo: word('hlo_text'),
    row
  };
}

function toldEdges(summary: Summary, ops: ReadonlyMap<string, Op>): Edge[] {
  const told = Array.isArray(summary.edges) ? summary.edges : [];
  return told
    .map((edge: unknown) => (Array.isArray(edge) ? edge : []))
    .map(([from, to, operand, shape]) => ({
      from: text(from),
      to: text(to),
      operand: Number(operand),
      shape: text(shape)
    }))
    .filter(({ from, to }) => ops.has(from) && ops.has(to));
}

function savedEdges(encoded: string, table: Columns): Edge[] {
  const wire = decodeBase64(encoded);
  const found: Edge[] = [];
  for (let row = 0; row < wire.rows; row++) {
    const [source, target] = [numberAt(wire, 'source', row), numberAt(wire, 'target', row)];
    const [from, to] = [stringAt(table, 'node', source), stringAt(table, 'node', target)];
    if (from !== null && to !== null) {
      const shape = stringAt(table, 'shape', source) ?? '';
      found.push({ from, to, operand: numberAt(wire, 'operand', row), shape });
    }
  }
  return found;
}

/** What the summary of an answer says, as far as it is about which part of which program. */
export interface Where {
  readonly program: string;
  readonly program_id: string;
  readonly center: string;
  readonly computation: string;
  readonly callers: readonly string[];
  /** By which calls the computation is reached from the entry. */
  readonly way: readonly { readonly computation: string; readonly op: string }[];
  readonly radius: number;
  readonly programs: readonly { readonly name: string; readonly id: string }[];
}

export function whereOf(summary: Summary): Where {
  const listed = Array.isArray(summary.programs) ? summary.programs : [];
  const way = Array.isArray(summary.way) ? summary.way : [];
  const callers = Array.isArray(summary.callers) ? summary.callers : [];
  return {
    program: text(summary.program),
    program_id: text(summary.program_id),
    center: text(summary.center),
    computation: text(summary.computation),
    callers: callers.map(text).filter(Boolean),
    way: way.map(record).map(({ computation, op }) => ({ computation: text(computation), op: text(op) })),
    radius: typeof summary.radius === 'number' ? summary.radius : 0,
    programs: listed
      .map(record)
      .map(({ program, program_id }) => ({ name: text(program), id: text(program_id) }))
  };
}
