/** The columns of the op profile: what each shows, how wide it is, and in which order they give way. */
import { byteRate, count, flopRate, MISSING, percent, SUSPICIOUS_FRACTION, time } from '../format';
import { kindOf } from '../kinds';
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

function measure(
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

function rate(
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

function label(id: string, title: string, sortBy: Label, width: number, grow: number): Field {
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

/** In the order they stand in the table. */
export const FIELDS: readonly Field[] = [
  label('name', 'name', 'name', 156, 3),
  { ...measure('share', 'share of time', 'time_fraction', 124, percent), align: 'left', grow: 2 },
  measure('time', 'time', 'time_ps', 72, time),
  measure('self', 'self time', 'self_time_ps', 84, time),
  measure('count', 'occurrences', 'occurrences', 92, count),
  rate('flops', 'FLOP/s, of peak', 'flops_per_s', 'flops_utilization', 186, flopRate),
  rate('bandwidth', 'bandwidth, of peak', 'hbm_bytes_per_s', 'hbm_utilization', 160, byteRate),
  label('bound', 'bound by', 'bound_by', 74, 0),
  measure('wasted', 'wasted', 'wasted_fraction', 70, percent),
  {
    ...label('kind', 'kind of work', 'work_kind', 124, 0),
    cell: (node) => ({ text: kindOf(node.labels.work_kind).label })
  },
  label('category', 'category', 'category', 160, 1),
  label('framework', 'framework op', 'framework_op', 320, 2)
];

const ALWAYS = 2;
/** Self time before time: it is what the share and the order of the rows are of. */
const KEPT_LONGEST: readonly string[] = [
  'name',
  'share',
  'self',
  'bound',
  'wasted',
  'flops',
  'bandwidth',
  'time',
  'count',
  'kind',
  'category',
  'framework'
];

/** The least room for names in a table of some width: they are what people look for. */
const NAME_SHARE = 0.235;
const WIDEST_NAME = 320;

/** The columns that fit into a width, in table order: the least important give way first. */
export function fittingFields(width: number): Field[] {
  const name = fieldOf('name');
  const nameWidth = Math.round(Math.min(WIDEST_NAME, Math.max(name.width, width * NAME_SHARE)));
  const kept = new Set<string>();
  let used = nameWidth - name.width;
  for (const [index, id] of KEPT_LONGEST.entries()) {
    const field = fieldOf(id);
    if (index >= ALWAYS && used + field.width > width) {
      break;
    }
    kept.add(id);
    used += field.width;
  }
  return FIELDS.filter((field) => kept.has(field.id)).map((field) =>
    field.id === 'name' ? { ...field, width: nameWidth } : field
  );
}

/** The CSS grid columns of some fields. */
export function gridTemplate(fields: readonly Field[]): string {
  return fields
    .map(({ width, grow }) => (grow > 0 ? `minmax(${width}px, ${grow}fr)` : `${width}px`))
    .join(' ');
}

export function fieldOf(id: string): Field {
  const field = FIELDS.find((candidate) => candidate.id === id);
  if (field === undefined) {
    throw new Error(`no column ${id}`);
  }
  return field;
}
