/** Graphs for tests: ops as rows of an answer, edges as its summary. */
import type { Answer, Snapshot } from '../host';
import { rowsTable, snapshot } from './fixtures';

export type Row = Record<string, number | string>;

/** An answer of the question `graph`; an edge is `[from, to, operand]`. */
export function graphAnswer(
  rows: readonly Row[],
  edges: readonly (readonly [string, string, number])[],
  summary: Record<string, unknown> = {}
): Answer {
  const filled = rows.map((row) => ({
    opcode: 'add',
    shape: 'f32[2]{0}',
    distance: 0,
    work_kind: 'elementwise',
    operand_count: edges.filter(([, to]) => to === row.node).length,
    user_count: edges.filter(([from]) => from === row.node).length,
    ...row,
    op: String(row.node),
    program_id: '7'
  }));
  return {
    table: rowsTable(filled),
    summary: {
      program: 'jit_f',
      program_id: '7',
      center: String(rows[0]?.node ?? ''),
      computation: 'main',
      radius: 2,
      edges: edges.map(([from, to, operand]) => [from, to, operand, 'f32[2]{0}']),
      programs: [{ program: 'jit_f', program_id: '7' }],
      ...summary
    } as Answer['summary'],
    notes: []
  };
}

/** A chain with a fusion of three ops in its middle: `p -> fusion -> out`. */
export function fused(): Answer {
  return graphAnswer(
    [
      { node: 'fusion', opcode: 'fusion', called: 'body', self_time_ps: 4e6, bytes_accessed: 64 },
      { node: 'p', opcode: 'parameter', work_kind: 'control', distance: 1 },
      { node: 'out', distance: 1, self_time_ps: 1e6, user_count: 3 },
      { node: 'a', inside: 'fusion', opcode: 'parameter' },
      { node: 'b', inside: 'fusion' },
      { node: 'c', inside: 'fusion' }
    ],
    [
      ['p', 'fusion', 0],
      ['p', 'fusion', 1],
      ['fusion', 'out', 0],
      ['a', 'b', 0],
      ['a', 'c', 0],
      ['b', 'c', 1]
    ]
  );
}

/** That answer as what a view begins with. */
export function graphSnapshot(answer: Answer): Snapshot {
  return {
    ...snapshot(),
    view: 'graph',
    title: 'graph',
    params: {},
    extra: {},
    rowsTotal: answer.table.rows,
    ...answer
  };
}
