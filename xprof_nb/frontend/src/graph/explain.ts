/** What hovering explains in a graph. */
import { bytes, count, exact, time } from '../format';
import { kindOf } from '../kinds';
import type { Edge } from './model';
import type { Box } from './scene';

const MOST_OPERANDS = 8;

export function linesOfOp({ op, inner, isOpen }: Box): readonly string[] {
  const known = (value: number, text: string) => (Number.isNaN(value) ? '' : text);
  return [
    op.name,
    `${op.opcode} ${op.shape}`,
    `${kindOf(op.kind).label}: ${op.category}`,
    known(op.self_time_ps, `self time ${time(op.self_time_ps)} (${exact(op.self_time_ps, 'ps')})`),
    known(op.occurrences, `ran ${count(op.occurrences)} times, ${time(op.time_ps)} in all`),
    known(
      op.bytes_accessed,
      `${bytes(op.bytes_accessed)} read and written (${exact(op.bytes_accessed, 'B')})`
    ),
    `reads ${count(op.operands)}, read by ${count(op.users)}`,
    inner > 0 && !isOpen ? `${count(inner)} ops are fused into it` : '',
    op.framework,
    op.source
  ].filter(Boolean);
}

/** Which operands an op reads of another. */
export function linesOfEdge(edges: readonly Edge[]): readonly string[] {
  const [first] = edges;
  if (first === undefined) {
    return [];
  }
  const more = edges.length - MOST_OPERANDS;
  return [
    `${first.from} → ${first.to}`,
    ...edges.slice(0, MOST_OPERANDS).map(({ operand, shape }) => `operand ${operand}: ${shape}`),
    more > 0 ? `and ${count(more)} more` : ''
  ].filter(Boolean);
}
