/** The marks of the time axis. */
import { lengthOf, type Span } from './span';

export interface Tick {
  readonly time: number;
  readonly label: string;
}

export interface Axis {
  readonly step: number;
  readonly ticks: readonly Tick[];
  /** What the labels count from; empty when they count from the begin of the profile. */
  readonly base: string;
}

const UNITS = ['ps', 'ns', 'µs', 'ms', 's'];
const NARROWEST_PX = 84;
const MOST_DECIMALS = 3;

/** Round steps, one label at least every `NARROWEST_PX`; deep inside a long run labels count from a base. */
export function axisOf(span: Span, width: number): Axis {
  const step = roundStep((lengthOf(span) / Math.max(1, width)) * NARROWEST_PX);
  const first = Math.ceil(span.start / step);
  const last = Math.floor(span.end / step);
  const times = Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => (first + index) * step);
  const largest = Math.max(Math.abs(span.start), Math.abs(span.end));
  const unit = unitOf(largest);
  const decimals = decimalsOf(step, unit);
  if (decimals <= MOST_DECIMALS) {
    return { step, base: '', ticks: times.map((time) => ({ time, label: inUnit(time, unit, decimals) })) };
  }
  const base = times[0] ?? span.start;
  const small = unitOf(Math.max(step, lengthOf(span)));
  return {
    step,
    base: inUnit(base, unit, decimals),
    ticks: times.map((time) => ({
      time,
      label:
        time === base ? `${inUnit(0, small, 0)}` : `+${inUnit(time - base, small, decimalsOf(step, small))}`
    }))
  };
}

/** A moment, exact to what one pixel is long: `12.345 678 ms`. */
export function moment(time: number, psPerPixel: number): string {
  const unit = unitOf(Math.abs(time));
  return inUnit(time, unit, Math.min(12, decimalsOf(Math.max(1, psPerPixel), unit)));
}

/** The smallest of 1, 2, 5 times a power of ten that is not below a length. */
export function roundStep(length: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(length, 1)));
  const factor = [1, 2, 5].find((candidate) => candidate * power >= length) ?? 10;
  return factor * power;
}

function unitOf(picoseconds: number): number {
  const exponent = Math.floor(Math.log10(Math.max(picoseconds, 1)) / 3);
  return Math.min(UNITS.length - 1, exponent);
}

function decimalsOf(step: number, unit: number): number {
  return Math.max(0, Math.ceil(unit * 3 - Math.log10(step) - 1e-9));
}

function inUnit(time: number, unit: number, decimals: number): string {
  return `${grouped((time / 1000 ** unit).toFixed(decimals))} ${UNITS[unit]}`;
}

function grouped(digits: string): string {
  const [whole = '', fraction = ''] = digits.split('.');
  const parts = fraction.match(/\d{1,3}/g)?.join('\u2009') ?? '';
  const front = whole.replace(/\B(?=(\d{3})+(?!\d))/g, '\u2009');
  return parts ? `${front}.${parts}` : front;
}
