/** The peak of memory: as allocators recorded it, as live arrays were sampled, or as the largest program plans it. */
import { bytes, exact, percent } from '../format';
import type { Answer } from '../host';
import { number, text } from '../payload';
import { definition } from './definition';
import type { Tile } from './tiles';

/** By how it is known: what the tile says of whose it is, and the view that is its evidence. */
const KNOWN: Readonly<Record<string, { words(of: string): string; readonly view: string }>> = {
  recorded: { words: () => '', view: 'memory' },
  sampled: { words: () => ', of live arrays, sampled', view: 'memory' },
  planned: { words: (program) => `, as planned for ${program}`, view: 'buffers' }
};

export function peakMemory({ table, summary }: Answer): Tile {
  const [peak, capacity] = [number(summary.peak_memory_bytes), number(summary.memory_capacity_bytes)];
  const [source, of] = [text(summary.peak_memory_source), text(summary.peak_memory_of)];
  const known = KNOWN[source];
  const means = definition(table, 'peak_memory_bytes');
  const where = source !== 'planned' && number(summary.device_count) > 1 && of ? ` on ${of}` : '';
  const share = Number.isNaN(capacity)
    ? 'of an unknown capacity'
    : `of ${bytes(capacity)}, ${percent(peak / capacity)}`;
  return {
    id: 'memory',
    label: 'peak memory',
    value: bytes(peak),
    spread: '',
    of: known === undefined ? 'neither recorded, sampled nor planned' : `${share}${where}${known.words(of)}`,
    fraction: peak / capacity,
    lines: known === undefined ? [means] : [means, `${exact(peak, 'B')} of ${exact(capacity, 'B')}`],
    view: known?.view ?? 'memory'
  };
}
