/** What hovering a point, a roof or a ridge says: the numbers, of what, and why. */
import { type Columns, numberAt, stringAt } from '../columns';
import {
  byteRate,
  count,
  flopRate,
  percent,
  SUSPICIOUS_FRACTION,
  significant,
  time,
  utilization
} from '../format';
import { kindOf } from '../kinds';
import { boundOf } from './looks';
import { intensityColumn, LEVELS, type Point } from './points';
import { levelName, type Ridge, type Roof, ridgeText, roofText } from './roofs';

const MEMORIES = LEVELS.filter((level) => level !== '');

export function explainPoint(
  table: Columns,
  { row, what, isSuspicious }: Point,
  level: string,
  roofs: readonly Roof[]
): string[] {
  const at = (column: string) => numberAt(table, column, row);
  const is = (column: string) => stringAt(table, column, row);
  const dtype = is('roof_dtype') ?? is('compute_dtype');
  const attainable = at('attainable_flops_per_s');
  const terms = isSuspicious ? suspicions(table, row, roofs) : [];
  return [
    `${is('name') ?? is('op') ?? what}${isSuspicious ? ' ⚠' : ''}`,
    what === 'op' ? opLine(is('program'), is('category'), kindOf(is('work_kind')).label) : whatLine(what),
    `${flopRate(at('flops_per_s'))} at ${significant(at(intensityColumn(level)))} FLOP/B of ${levelName(level)}`,
    `${time(at('time_ps'))}, ${percent(at('time_fraction'))} of device time${runs(at('occurrences'))}`,
    Number.isNaN(attainable)
      ? 'attainable: not known'
      : `attainable at this intensity: ${flopRate(attainable)}, of which ${percent(at('flops_per_s') / attainable)} is reached`,
    ...(Number.isNaN(at('flops_utilization'))
      ? []
      : [`${utilization(at('flops_utilization'))} of the ${dtype ? `${dtype} ` : ''}FLOP/s roof`]),
    ...MEMORIES.filter((name) => !Number.isNaN(at(`${name}_utilization`))).map(
      (name) =>
        `${utilization(at(`${name}_utilization`))} of the ${levelName(name)} roof, ${byteRate(at(`${name}_bytes_per_s`))}`
    ),
    `bound by ${boundOf(is('bound_by')).label}`,
    ...terms
  ];
}

function opLine(program: string | null, category: string | null, kind: string): string {
  return [category, kind, program === null ? null : `in ${program}`].filter(Boolean).join(', ');
}

function whatLine(what: string): string {
  return what === 'program' ? 'the whole profile, idle time included' : 'one step, idle time included';
}

function runs(occurrences: number): string {
  return Number.isNaN(occurrences) ? '' : `, ${count(occurrences)} runs`;
}

/** Both terms of every utilisation that cannot be right. */
function suspicions(table: Columns, row: number, roofs: readonly Roof[]): string[] {
  const at = (column: string) => numberAt(table, column, row);
  const memory = MEMORIES.filter((name) => at(`${name}_utilization`) > SUSPICIOUS_FRACTION).map((name) => {
    const roof = roofs.find((one) => one.isMemory && !one.isOther && one.name === name);
    const peak = byteRate(roof?.value ?? at(`${name}_bytes_per_s`) / at(`${name}_utilization`));
    return `⚠ ${levelName(name)}: ${byteRate(at(`${name}_bytes_per_s`))} counted, ${peak} is the roof`;
  });
  const compute =
    at('flops_utilization') > SUSPICIOUS_FRACTION
      ? [
          `⚠ FLOPs: ${flopRate(at('flops_per_s'))} counted, ${flopRate(at('flops_per_s') / at('flops_utilization'))} is the roof`
        ]
      : [];
  const found = [...compute, ...memory];
  return found.length > 0
    ? [...found, 'Above 105 %: the count or the roof is wrong, or data stayed in a nearer memory.']
    : [];
}

export function explainRidge(ridge: Ridge): string[] {
  return [
    `ridge of ${levelName(ridge.memory.name)} and ${ridge.dtypes}: ${ridgeText(ridge)}`,
    `${flopRate(ridge.flopsPerS)} ÷ ${byteRate(ridge.memory.value)}; to the left the memory is the limit`,
    `${ridge.dtypes}: ${ridge.compute.label}, ${ridge.compute.source}`,
    `${levelName(ridge.memory.name)}: ${ridge.memory.label}, ${ridge.memory.source}`
  ];
}

export function explainRoof(roof: Roof & { readonly names?: string }): string[] {
  return [
    roofText(roof),
    roof.source,
    ...(roof.isOther ? ['Another roof is believed and utilisation is of that.'] : [])
  ];
}
