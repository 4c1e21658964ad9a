/** The peak of memory: as allocators recorded it, as live arrays were sampled, or as the largest program plans it. */
import { bytes, exact, percent } from '../format';
import type { Summary } from '../host';
import { number, text } from '../payload';
import { type Heard, isAwaited, reasonOf } from './heard';
import type { Tile } from './tiles';

const SAMPLED = 'live arrays (sampled)';

export function peakMemory(memory: Heard, plan: Heard, { device_count }: Summary): Tile {
  const recorded = memory.answer?.summary ?? {};
  const planned = plan.answer?.summary ?? {};
  if (number(recorded.peak_bytes) >= 0) {
    const isSampled = recorded.allocator === SAMPLED;
    const where = number(device_count) > 1 && text(recorded.device) ? ` on ${text(recorded.device)}` : '';
    return tileOf(recorded, {
      how: isSampled ? ', of live arrays, sampled' : '',
      where,
      what: isSampled
        ? 'The most that the arrays Python held took, of the samples during the capture.'
        : 'The most that one device’s allocator held at once during the capture.',
      view: 'memory'
    });
  }
  if (number(planned.peak_bytes) >= 0) {
    return tileOf(planned, {
      how: `, as planned for ${text(planned.program)}`,
      where: '',
      what: `No allocator was recorded: what the compiler planned for the program that needs most. ${memory.answer?.notes[0] ?? memory.failure}`,
      view: 'buffers'
    });
  }
  const isWaiting = isAwaited(memory) || isAwaited(plan);
  const why = isWaiting ? 'asking' : memory.failure || reasonOf(memory.answer);
  return {
    ...LABEL,
    value: isWaiting ? '…' : bytes(Number.NaN),
    of: why,
    fraction: Number.NaN,
    lines: [why, ...(memory.answer?.notes ?? []), plan.failure],
    view: 'memory'
  };
}

const LABEL = { id: 'memory', label: 'peak memory', spread: '' };

interface Means {
  readonly how: string;
  readonly where: string;
  readonly what: string;
  readonly view: string;
}

function tileOf(summary: Summary, { how, where, what, view }: Means): Tile {
  const [peak, capacity] = [number(summary.peak_bytes), number(summary.capacity_bytes)];
  const of = Number.isNaN(capacity)
    ? 'of an unknown capacity'
    : `of ${bytes(capacity)}, ${percent(peak / capacity)}`;
  return {
    ...LABEL,
    value: bytes(peak),
    of: `${of}${where}${how}`,
    fraction: peak / capacity,
    lines: [what, `${exact(peak, 'B')} of ${exact(capacity, 'B')}`, text(summary.sentence)],
    view
  };
}
