/** A stretch of time and what moving does to it: picoseconds since the begin of the profile. */

export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Closer than this nothing is told apart: the clocks of no profiler are finer. */
export const SHORTEST_PS = 1_000;

export function lengthOf(span: Span): number {
  return span.end - span.start;
}

/** The span moved and, where it must be, shortened so that it lies inside the bounds. */
export function within(span: Span, bounds: Span): Span {
  const whole = Math.max(lengthOf(bounds), SHORTEST_PS);
  const length = Math.min(Math.max(lengthOf(span), SHORTEST_PS), whole);
  const middle = (span.start + span.end) / 2;
  const start = lengthOf(span) < SHORTEST_PS ? middle - length / 2 : span.start;
  const first = Math.min(Math.max(start, bounds.start), bounds.start + whole - length);
  return { start: first, end: first + length };
}

/** Zoom by a factor (below 1: closer) so that one moment keeps its place on screen. */
export function zoomed(span: Span, at: number, factor: number, bounds: Span): Span {
  const length = Math.min(Math.max(lengthOf(span) * factor, SHORTEST_PS), lengthOf(bounds));
  const share = (at - span.start) / lengthOf(span);
  const start = at - share * length;
  return within({ start, end: start + length }, bounds);
}

export function shifted(span: Span, by: number, bounds: Span): Span {
  return within({ start: span.start + by, end: span.end + by }, bounds);
}

const MARGIN = 0.15;

/** The span to show so that a thing is seen with some room around it. */
export function around(thing: Span, bounds: Span): Span {
  const margin = Math.max(lengthOf(thing) * MARGIN, SHORTEST_PS / 2);
  return within({ start: thing.start - margin, end: thing.end + margin }, bounds);
}

/** The nearest span of the same length that has a moment in it, not at its very edge. */
export function reaching(span: Span, thing: Span, bounds: Span): Span {
  if (thing.start >= span.start && thing.end <= span.end) {
    return span;
  }
  const length = lengthOf(span);
  if (lengthOf(thing) > length) {
    return thing.end > span.start && thing.start < span.end
      ? span
      : shifted(span, thing.start - span.start, bounds);
  }
  const middle = (thing.start + thing.end) / 2;
  return within({ start: middle - length / 2, end: middle + length / 2 }, bounds);
}

export function isSame(a: Span, b: Span): boolean {
  return a.start === b.start && a.end === b.end;
}

/** A span on the way from one to another; part 0..1. */
export function between(from: Span, to: Span, part: number): Span {
  return {
    start: from.start + (to.start - from.start) * part,
    end: from.end + (to.end - from.end) * part
  };
}

/** The two ends in order. */
export function spanOf(a: number, b: number): Span {
  return { start: Math.min(a, b), end: Math.max(a, b) };
}

/** From times to places on screen and back. */
export class Scale {
  readonly psPerPixel: number;

  constructor(
    readonly span: Span,
    readonly width: number
  ) {
    this.psPerPixel = lengthOf(span) / Math.max(1, width);
  }

  x(time: number): number {
    return (time - this.span.start) / this.psPerPixel;
  }

  time(x: number): number {
    return this.span.start + x * this.psPerPixel;
  }
}

/** The nearest edge between two pixels of the screen. */
export function snapped(x: number, pixel: number): number {
  return Math.round(x / pixel) * pixel;
}
