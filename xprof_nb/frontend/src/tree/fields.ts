/** The columns of a tree table: what each shows, how wide it is, and in which order they give way. */
import { MISSING, percent, SUSPICIOUS_FRACTION } from '../format';
import type { Label, Measure, OpNode } from './tree';

export interface Cell {
  readonly text: string;
  /** Said beside the value: the share of a peak. */
  readonly extra?: string;
  /** The value contradicts its peak. */
  readonly suspicious?: boolean;
}

export interface Field {
  readonly id: string;
  readonly label: string;
  readonly sortBy: Measure | Label;
  readonly align: 'left' | 'right';
  readonly width: number;
  /** Takes its share of the space that is left over. */
  readonly grow: number;
  cell(node: OpNode): Cell;
}

export function measure(
  id: string,
  label: string,
  sortBy: Measure,
  width: number,
  format: (value: number) => string
): Field {
  return {
    id,
    label,
    sortBy,
    width,
    grow: 0,
    align: 'right',
    cell: (node) => ({ text: format(node.measures[sortBy]) })
  };
}

export function rate(
  id: string,
  label: string,
  value: Measure,
  utilization: Measure,
  width: number,
  format: (value: number) => string
): Field {
  return {
    id,
    label,
    sortBy: value,
    width,
    grow: 0,
    align: 'right',
    // A row without arithmetic or traffic has no rate to speak of: 0 % of a peak would read as bad.
    cell: ({ measures }) =>
      measures[value] === 0
        ? { text: MISSING }
        : {
            text: format(measures[value]),
            extra: Number.isFinite(measures[utilization]) ? percent(measures[utilization]) : undefined,
            suspicious: measures[utilization] > SUSPICIOUS_FRACTION
          }
  };
}

export function label(id: string, title: string, sortBy: Label, width: number, grow: number): Field {
  return {
    id,
    label: title,
    sortBy,
    width,
    grow,
    align: 'left',
    cell: (node) => ({ text: node.labels[sortBy] ?? MISSING })
  };
}

const ALWAYS = 2;
/** The least room for names in a table of some width: they are what people look for. */
const NAME_SHARE = 0.235;
const WIDEST_NAME = 320;

/** The columns of a table. */
export interface Layout {
  /** In the order they stand in the table; one of them is `name`. */
  readonly fields: readonly Field[];
  /** Their ids, those that give way last first. */
  readonly keptLongest: readonly string[];
}

/** The columns that fit into a width, in table order: the least important give way first, and unknown ones at once. */
export function fittingFields(
  { fields, keptLongest }: Layout,
  width: number,
  unknown: ReadonlySet<Measure | Label> = new Set()
): Field[] {
  const candidates = keptLongest
    .map((id) => fields.find((field) => field.id === id))
    .filter((field) => field !== undefined)
    .filter((field) => !unknown.has(field.sortBy));
  const least = candidates.find(({ id }) => id === 'name')?.width ?? 0;
  const nameWidth = Math.round(Math.min(WIDEST_NAME, Math.max(least, width * NAME_SHARE)));
  const kept = new Set<Field>();
  let used = nameWidth - least;
  for (const [index, field] of candidates.entries()) {
    if (index >= ALWAYS && used + field.width > width) {
      break;
    }
    kept.add(field);
    used += field.width;
  }
  return fields
    .filter((field) => kept.has(field))
    .map((field) => (field.id === 'name' ? { ...field, width: nameWidth } : field));
}

/** The CSS grid columns of some fields. */
export function gridTemplate(fields: readonly Field[]): string {
  return fields
    .map(({ width, grow }) => (grow > 0 ? `minmax(${width}px, ${grow}fr)` : `${width}px`))
    .join(' ');
}
