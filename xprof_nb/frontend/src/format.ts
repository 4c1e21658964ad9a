/**
 * Numbers as people read them: three significant digits, a unit, an en dash for missing.
 * The mirror of `xprof_nb/model/units.py`: a number reads the same in a view and in its printed fallback.
 */

export const MISSING = '–';
export const SUSPICIOUS_FRACTION = 1.05;

const THIN_SPACE = '\u2009';
const TIME_UNITS = ['ps', 'ns', 'µs', 'ms', 's'];
const SI_PREFIXES = ['', 'k', 'M', 'G', 'T', 'P', 'E'];
const BINARY_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
const SMALLEST_PERCENT_SHOWN = 0.0005;

/** `27.7 ms` from picoseconds. */
export function time(picoseconds: number): string {
  return scaled(picoseconds, 1000, TIME_UNITS);
}

/** `312 TFLOP/s`. */
export function flopRate(flopsPerSecond: number): string {
  return scaled(flopsPerSecond, 1000, withPrefixes('FLOP/s'));
}

/** `410 GB/s`. */
export function byteRate(bytesPerSecond: number): string {
  return scaled(bytesPerSecond, 1000, withPrefixes('B/s'));
}

/** `1.21 GFLOP`. */
export function flops(count: number): string {
  return scaled(count, 1000, withPrefixes('FLOP'));
}

/** `12.1 GiB`, `4 B`. */
export function bytes(count: number): string {
  if (Number.isInteger(count) && Math.abs(count) < 1000) {
    return `${count} B`;
  }
  return scaled(count, 1024, BINARY_UNITS);
}

/** `24.2 %` from a fraction. */
export function percent(fraction: number): string {
  if (!Number.isFinite(fraction)) {
    return MISSING;
  }
  if (fraction > 0 && fraction < SMALLEST_PERCENT_SHOWN) {
    return '<0.1 %';
  }
  return `${(fraction * 100).toFixed(1)} %`;
}

/** `26 723`: whole counts in full, averages with three significant digits. */
export function count(value: number): string {
  if (!Number.isFinite(value)) {
    return MISSING;
  }
  return Number.isInteger(value) ? grouped(value) : significant(value);
}

/** `24.2 %` of a peak; above 105 % it carries a mark, because the work or the peak is then in doubt. */
export function utilization(fraction: number): string {
  return fraction > SUSPICIOUS_FRACTION ? `${percent(fraction)} ⚠` : percent(fraction);
}

/** How the values of a column are written, told from the unit in its name, and that unit. */
export interface Writer {
  readonly unit: string;
  write(value: number): string;
}

const WRITERS: readonly (readonly [RegExp, Writer])[] = [
  [/_ps$/, { unit: 'ps', write: time }],
  [/_ns$/, { unit: 'ns', write: (value) => time(value * 1e3) }],
  [/_s$(?<!_per_s)/, { unit: 's', write: (value) => time(value * 1e12) }],
  [/utilization$/, { unit: '', write: utilization }],
  [/_fraction$/, { unit: '', write: percent }],
  [/flops_per_s$/, { unit: 'FLOP/s', write: flopRate }],
  [/bytes_per_s$/, { unit: 'B/s', write: byteRate }],
  [/(^|_)flops$/, { unit: 'FLOP', write: flops }],
  [/(^|_)bytes(_|$)/, { unit: 'B', write: bytes }],
  [/intensity$/, { unit: 'FLOP/B', write: significant }]
];
const PLAIN: Writer = { unit: '', write: count };

/** The writer of a column of numbers. */
export function writerOf(column: string): Writer {
  return WRITERS.find(([pattern]) => pattern.test(column))?.[1] ?? PLAIN;
}

/** `54.3 ms` from a value and the unit that stands beside it. */
export function quantity(value: number, unit: string): string {
  if (Number.isNaN(value)) {
    return MISSING;
  }
  const known = BY_UNIT.get(unit);
  return known === undefined ? [count(value), unit].filter(Boolean).join(' ') : known(value);
}

const BY_UNIT: ReadonlyMap<string, (value: number) => string> = new Map([
  ['ps', time],
  ['fraction', percent],
  ['FLOP', flops],
  ['FLOP/s', flopRate],
  ['B', bytes],
  ['B/s', byteRate]
]);

const HEADINGS: readonly (readonly [string, string])[] = [
  ['flops_per_s', 'FLOP/s'],
  ['hbm_bytes_per_s', 'HBM B/s'],
  ['bytes_per_s', 'B/s'],
  ['flops_utilization', 'of FLOP/s peak'],
  ['hbm_utilization', 'of HBM peak'],
  ['flops', 'FLOPs'],
  ['hbm', 'HBM']
];

/** A column's name for people, without the unit its cells carry: `step_time_ps` is "step time". */
export function heading(column: string): string {
  let name = column.replace('time_fraction', 'share').replace(/_(ps|ns|s|fraction)$(?<!_per_s)/, '');
  for (const [short, long] of HEADINGS) {
    name = name.replace(short, long);
  }
  return name.split('_').filter(Boolean).join(' ') || column;
}

/** The value in full, for a tooltip: `27 712 345 678 ps`. */
export function exact(value: number, unit: string): string {
  if (!Number.isFinite(value)) {
    return MISSING;
  }
  const digits = Number.isInteger(value) || Math.abs(value) >= 1e6 ? grouped(value) : String(value);
  return unit ? `${digits} ${unit}` : digits;
}

function withPrefixes(unit: string): string[] {
  return SI_PREFIXES.map((prefix) => prefix + unit);
}

function scaled(value: number, step: number, units: readonly string[]): string {
  if (!Number.isFinite(value)) {
    return MISSING;
  }
  let unit = 0;
  let rest = value;
  // 999.6 prints as 1 000, so it already belongs to the next unit.
  while (Math.abs(rest) >= step - 0.5 && unit < units.length - 1) {
    rest /= step;
    unit += 1;
  }
  return `${significant(rest)} ${units[unit]}`;
}

/** Three significant digits without an exponent; whole digits are never cut. */
export function significant(value: number): string {
  if (!Number.isFinite(value)) {
    return MISSING;
  }
  if (value === 0) {
    return '0';
  }
  const rounded = Number(value.toPrecision(3));
  const decimals = 2 - Math.floor(Math.log10(Math.abs(rounded)));
  return decimals > 0 ? value.toFixed(Math.min(decimals, 20)) : grouped(value);
}

function grouped(value: number): string {
  return value.toFixed(0).replace(/\B(?=(\d{3})+(?!\d))/g, THIN_SPACE);
}
