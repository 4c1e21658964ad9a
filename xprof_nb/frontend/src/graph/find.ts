/** Where the graph's search looks: in the whole program, or in what was saved of it. */
import { numberAt, stringAt } from '../columns';
import { count } from '../format';
import type { Host, Params } from '../host';
import { number } from '../payload';
import type { Neighbourhood } from './model';
import type { Found } from './search';

const MOST_HITS = 50;

/** Ask for the ops of a program that have every word, those that took most time first. */
export async function findLive(
  host: Host,
  program: string,
  { host: of, device, step, window_ps }: Params,
  words: string,
  signal: AbortSignal
): Promise<Found> {
  const params = { host: of, device, step, window_ps, program, text: words, limit: MOST_HITS };
  const { table, summary } = await host.request('graph_search', params, signal);
  const hits = Array.from({ length: table.rows }, (_, row) => ({
    op: stringAt(table, 'op', row) ?? '',
    program_id: stringAt(table, 'program_id', row) ?? '',
    opcode: stringAt(table, 'opcode', row) ?? '',
    shape: stringAt(table, 'shape', row) ?? '',
    self_time_ps: numberAt(table, 'self_time_ps', row)
  }));
  return {
    hits,
    total: number(summary.hit_count) || 0,
    among: `${count(number(summary.searched_count))} ops of the program`
  };
}

/** Look among the ops that were saved. */
export function findSaved({ ops }: Neighbourhood, program: string, words: string): Found {
  const sought = words.toLowerCase().split(/\s+/);
  const found = [...ops.values()].filter(({ name, opcode, shape, framework }) => {
    const text = `${name} ${opcode} ${shape} ${framework}`.toLowerCase();
    return sought.every((word) => text.includes(word));
  });
  const hits = found.slice(0, MOST_HITS).map(({ name, opcode, shape, self_time_ps }) => ({
    op: name,
    program_id: program,
    opcode,
    shape,
    self_time_ps
  }));
  return { hits, total: found.length, among: `the ${count(ops.size)} ops saved here` };
}
