/** Memory over time: every allocator's curve, who held the memory, and each event as a table. */
import { answerView } from '../shell/answer';
import { MemoryPart } from './part';
import style from './style.css?inline';

/** Draw the answer of a host into an element. */
export const mount = answerView({
  label: 'memory',
  styles: [style],
  columns: [
    { name: 'kind', width: 88 },
    { name: 'start_ps', label: 'time', width: 96 },
    { name: 'device', isMinor: true, width: 80 },
    'bytes',
    'total_bytes',
    'heap_bytes',
    'stack_bytes',
    'free_bytes',
    'fragmentation_fraction',
    'lifetime_ps',
    { name: 'framework_op', width: 240 },
    { name: 'shape', width: 140 },
    { name: 'dtype', width: 80 },
    { name: 'region', width: 100 },
    { name: 'caller', width: 180 },
    'requested_bytes',
    'capacity_bytes',
    { name: 'allocator', width: 120 },
    { name: 'host', width: 120 }
  ],
  parts: (frame) => [new MemoryPart(frame)],
  choiceOf: () => ({})
});
