/** What the timeline says about a box, a track and a window, in words and numbers. */
import { byteRate, bytes, count, flopRate, percent, SUSPICIOUS_FRACTION, time } from '../format';
import { kindOf } from '../kinds';
import type { Picked } from './picking';
import { lengthOf, type Span } from './span';
import { moment } from './ticks';
import { isArea, isHeading, pathOf, type Track } from './tracks';

const LONGEST_NAME = 400;

/** A value of a counter in its unit. */
export function amount(value: number, unit: string): string {
  switch (unit) {
    case 'fraction':
      return percent(value);
    case 'B':
      return bytes(value);
    case 'B/s':
      return byteRate(value);
    case 'FLOP/s':
      return flopRate(value);
    case 'ps':
      return time(value);
    default:
      return unit === '' ? count(value) : `${count(value)} ${unit}`;
  }
}

/** The lines of the hover card. */
export function describe(picked: Picked, track: Track, psPerPixel: number): string[] {
  const name = clipped(picked.name) || track.name;
  const where = pathOf(track);
  if (isArea(track)) {
    const spread =
      picked.high > picked.low
        ? `${amount(picked.low, track.unit)} to ${amount(picked.high, track.unit)}`
        : '';
    return [
      `${track.name}: ${amount(picked.value, track.unit)}`,
      [spread, picked.count > 1 ? `${count(picked.count)} samples` : ''].filter(Boolean).join(', '),
      `at ${moment(picked.start, psPerPixel)}`,
      where
    ].filter(Boolean);
  }
  const length = time(picked.end - picked.start);
  const kind = kindOf(picked.kind);
  if (picked.count > 1) {
    return [
      `${count(picked.count)} events, most of the time ${name}`,
      `busy ${percent(picked.busyShare)} of ${length}, at ${moment(picked.start, psPerPixel)}`,
      `${kind.shape} ${kind.label}`,
      where
    ];
  }
  return [name, `${length}, at ${moment(picked.start, psPerPixel)}`, `${kind.shape} ${kind.label}`, where];
}

/** The same in one sentence, for who listens. */
export function spoken(picked: Picked, track: Track): string {
  return describe(picked, track, 1).join(', ');
}

/** `12.2 ms of 1.17 s`. */
export function windowText(span: Span, bounds: Span): string {
  const whole = lengthOf(bounds);
  return lengthOf(span) >= whole * 0.9999
    ? `all of ${time(whole)}`
    : `${time(lengthOf(span))} of ${time(whole)}`;
}

/** What stands beside a track's name: how busy it was, or how high it went. */
export function trackFact(track: Track, bounds: Span): string {
  if (isArea(track)) {
    const mark = track.unit === 'fraction' && track.maximum > SUSPICIOUS_FRACTION ? '⚠ ' : '';
    const most = amount(track.maximum, track.unit);
    return Number.isNaN(track.maximum) ? '' : `${mark}${most.startsWith('<') ? '' : '≤ '}${most}`;
  }
  if (isHeading(track)) {
    return track.children.length > 0 ? count(track.children.length) : '';
  }
  return Number.isNaN(track.busyPs) ? '' : percent(track.busyPs / lengthOf(bounds));
}

/** What the fact is about, on hover. */
export function trackTitle(track: Track, bounds: Span): string {
  const lines = [pathOf(track)];
  if (isArea(track)) {
    lines.push(`from ${amount(track.minimum, track.unit)} to ${amount(track.maximum, track.unit)}`);
    if (track.unit === 'fraction' && track.maximum > SUSPICIOUS_FRACTION) {
      lines.push('More than the peak: the peak or the counted work is not what it should be.');
    }
  } else if (!isHeading(track)) {
    const busy = Number.isNaN(track.busyPs)
      ? ''
      : `, busy ${time(track.busyPs)} of ${time(lengthOf(bounds))}`;
    lines.push(
      `${Number.isNaN(track.eventCount) ? 'not counted yet' : `${count(track.eventCount)} events`}${busy}`
    );
  } else if (track.children.length > 0) {
    lines.push(`${count(track.children.length)} tracks`);
  }
  return lines.join('\n');
}

export function clipped(name: string): string {
  return name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name;
}
