/** Which rows of a table a filter leaves: words they have, or numbers above and below a bound. */
import type { Field, Value } from './fields';

type Test = (row: number) => boolean;

const COMPARISON = /^(\w+)(<=|>=|<|>|=)(-?[\d.,]+(?:e[+-]?\d+)?)(\D*)$/;
const TIMES_PS: Readonly<Record<string, number>> = {
  ps: 1,
  ns: 1e3,
  us: 1e6,
  µs: 1e6,
  μs: 1e6,
  ms: 1e9,
  s: 1e12
};
const MULTIPLES: readonly (readonly [RegExp, number])[] = [
  [/^%$/, 0.01],
  [/^ki/, 2 ** 10],
  [/^mi/, 2 ** 20],
  [/^gi/, 2 ** 30],
  [/^ti/, 2 ** 40],
  [/^k/, 1e3],
  [/^m/, 1e6],
  [/^g/, 1e9],
  [/^t/, 1e12],
  [/^p/, 1e15],
  [/^(b|flop|$)/, 1]
];

/**
 * The rows that pass every word of a filter.
 *
 * `conv` is in a text that is shown, `op:conv` in that column, `self_time>1ms` and `share>=5%` compare numbers; a
 * column is called as its head says, with underscores, or as in the DataFrame.
 */
export function matching(rows: number, fields: readonly Field[], filter: string): number[] {
  const tests = filter
    .split(/\s+/)
    .filter(Boolean)
    .map((word) => testOf(word, fields));
  return Array.from({ length: rows }, (_, row) => row).filter((row) => tests.every((test) => test(row)));
}

function testOf(word: string, fields: readonly Field[]): Test {
  const lower = word.toLowerCase();
  const at = lower.indexOf(':');
  const named = at > 0 ? fieldNamed(lower.slice(0, at), fields) : undefined;
  if (named !== undefined) {
    return holding(named, lower.slice(at + 1));
  }
  const comparison = comparisonOf(lower, fields);
  if (comparison !== null) {
    return comparison;
  }
  const tests = fields
    .filter(({ isText, isShown }) => isText && isShown)
    .map((field) => holding(field, lower));
  return (row) => tests.some((test) => test(row));
}

/** Columns repeat their values: each is looked into once. */
function holding(field: Field, sought: string): Test {
  const known = new Map<Value, boolean>();
  return (row) => {
    const value = field.value(row);
    let found = known.get(value);
    if (found === undefined) {
      found = field.text(row).toLowerCase().includes(sought);
      known.set(value, found);
    }
    return found;
  };
}

function comparisonOf(word: string, fields: readonly Field[]): Test | null {
  const [, name = '', sign = '', digits = '', unit = ''] = COMPARISON.exec(word) ?? [];
  const field = fieldNamed(name, fields);
  const bound =
    Number(digits.replaceAll(',', '')) * (field === undefined ? Number.NaN : multiple(unit, field.unit));
  if (field === undefined || field.isText || Number.isNaN(bound)) {
    return null;
  }
  const passes: Record<string, (value: number) => boolean> = {
    '<': (value) => value < bound,
    '>': (value) => value > bound,
    '<=': (value) => value <= bound,
    '>=': (value) => value >= bound,
    '=': (value) => value === bound
  };
  const pass = passes[sign];
  return (row) => {
    const value = field.value(row);
    return typeof value === 'number' && pass?.(value) === true;
  };
}

/** What a typed number counts in a column's own unit; NaN when the two have nothing to do with each other. */
function multiple(typed: string, unit: string): number {
  const own = TIMES_PS[unit];
  if (own !== undefined) {
    return typed === '' ? 1 : (TIMES_PS[typed] ?? Number.NaN) / own;
  }
  const amount = typed.replace(/\/s$/, '');
  return MULTIPLES.find(([pattern]) => pattern.test(amount))?.[1] ?? Number.NaN;
}

function fieldNamed(name: string, fields: readonly Field[]): Field | undefined {
  return name === ''
    ? undefined
    : fields.find((field) => [field.name, field.label.replaceAll(' ', '_').toLowerCase()].includes(name));
}
