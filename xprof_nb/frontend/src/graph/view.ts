/** Graph: what an op reads and who reads it, as a drawing and as a table. */
import { answerView } from '../shell/answer';
import { GraphPicture } from './picture';

export const mount = answerView({
  label: 'graph',
  columns: [
    { name: 'node', label: 'op', width: 240 },
    'opcode',
    { name: 'shape', isMinor: true, width: 220 },
    { name: 'distance', isMinor: true, width: 84, title: 'Edges from the op in the middle' },
    { name: 'category', isMinor: true, width: 130 },
    'self_time_ps',
    'time_ps',
    'occurrences',
    'bytes_accessed',
    'flops',
    { name: 'operand_count', label: 'reads', width: 72 },
    { name: 'user_count', label: 'read by', width: 80 },
    { name: 'inside', label: 'fused into' },
    'computation',
    'framework_op',
    'source'
  ],
  parts: (frame) => [new GraphPicture(frame)]
});
