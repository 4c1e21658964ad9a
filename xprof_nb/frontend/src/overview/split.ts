/** How the time of the steps divides between the device, the host that it waited for, and nothing at all. */
import type { Summary } from '../host';
import { number, record } from '../payload';
import { PARTS, type Part } from '../steps/parts';

export interface Share {
  readonly part: Part;
  readonly fraction: number;
}

export interface Side {
  readonly label: string;
  readonly fraction: number;
  readonly shares: readonly Share[];
}

const LABELS = { device: 'device works', host: 'device waits for the host', idle: 'nothing recorded' };

/** The sides that have any time, largest parts first within each; from the summary of `input_pipeline`. */
export function sidesOf(summary: Summary): Side[] {
  const fractions = record(summary.fractions);
  const shares = PARTS.map((part) => ({ part, fraction: number(fractions[part.id]) }));
  return (['device', 'host', 'idle'] as const)
    .map((place) => {
      const mine = shares.filter(({ part, fraction }) => part.place === place && fraction > 0);
      return {
        label: LABELS[place],
        fraction: mine.reduce((sum, { fraction }) => sum + fraction, 0),
        shares: mine.sort((a, b) => b.fraction - a.fraction)
      };
    })
    .filter(({ shares: mine }) => mine.length > 0);
}
