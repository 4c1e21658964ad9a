/** Times on the profile's clock, which the other views of a run are asked by, and ones that begin with the timeline. */
import type { Span } from './span';

export class Clock {
  private readonly _origin: bigint;

  /** `origin`: where the timeline begins, in ps; as text, since it may be more than a number holds. */
  constructor(origin: string) {
    this._origin = /^-?\d{1,30}$/.test(origin) ? BigInt(origin) : 0n;
  }

  ofProfile({ start, end }: Span): [number, number] {
    const at = (time: number) => Number(this._origin + BigInt(Math.round(time)));
    return [at(start), at(end)];
  }

  /** Null for what is no stretch of time. */
  ofTimeline(window: readonly [number, number] | null | undefined): Span | null {
    const [start, end] = window ?? [0, 0];
    if (!(end > start) || !Number.isFinite(end - start)) {
      return null;
    }
    const at = (time: number) => Number(BigInt(Math.round(time)) - this._origin);
    return { start: at(start), end: at(end) };
  }
}
