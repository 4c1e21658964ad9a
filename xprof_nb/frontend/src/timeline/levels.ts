/** Every answer there is, coarse and fine, and which of them to draw where. */
import type { Boxes } from './boxes';
import { lengthOf, type Span } from './span';

/** A stretch of one track and the answer that shows it best. */
export interface Stretch {
  readonly span: Span;
  readonly boxes: Boxes;
}

const MOST_ANSWERS = 40;
const MOST_BOXES = 300_000;
/** An answer a little coarser than the screen is not asked for again. */
const SLACK = 1.02;
/** From how many pixels on a person sees that something is missing. */
const COARSE = 2;

export class Levels {
  /** The last one is the newest. */
  private _answers: Boxes[] = [];

  constructor(private readonly _bounds: Span) {}

  add(boxes: Boxes): void {
    this._answers.push(boxes);
    let kept = 0;
    const isKept = (answer: Boxes, age: number) => {
      kept += answer.rows;
      return this._isOverview(answer) || (age < MOST_ANSWERS && kept <= MOST_BOXES);
    };
    this._answers = [...this._answers].reverse().filter(isKept).reverse();
  }

  /** Whether there is any answer about a track. */
  knows(track: number): boolean {
    return this._answers.some(({ tracks }) => tracks.has(track));
  }

  get answers(): readonly Boxes[] {
    return this._answers;
  }

  /** The first answer about the whole run, which has all the tracks that are shown by default; null when there is none. */
  get overview(): Boxes | null {
    return this._answers.find((boxes) => this._isOverview(boxes)) ?? null;
  }

  /** The best there is for a track in a span, from left to right; what is not known yet is left out. */
  stretches(track: number, span: Span, psPerPixel: number): Stretch[] {
    const known = this._answers.filter(({ tracks, span: own }) => tracks.has(track) && overlap(own, span));
    const cuts = new Set([span.start, span.end]);
    for (const { span: own } of known) {
      cuts.add(Math.max(span.start, own.start));
      cuts.add(Math.min(span.end, own.end));
    }
    const edges = [...cuts].sort((a, b) => a - b);
    const found: Stretch[] = [];
    for (let i = 0; i + 1 < edges.length; i++) {
      const piece = { start: edges[i] as number, end: edges[i + 1] as number };
      const boxes = best(known, track, piece, psPerPixel);
      const last = found.at(-1);
      if (boxes === null) {
        continue;
      }
      if (last?.boxes === boxes && last.span.end === piece.start) {
        found[found.length - 1] = { span: { start: last.span.start, end: piece.end }, boxes };
      } else {
        found.push({ span: piece, boxes });
      }
    }
    return found;
  }

  /** The tracks that are not known well enough everywhere in a span. */
  lacking(tracks: readonly number[], span: Span, psPerPixel: number): number[] {
    const wanted = {
      start: Math.max(span.start, this._bounds.start),
      end: Math.min(span.end, this._bounds.end)
    };
    return tracks.filter((track) => {
      const good = this.stretches(track, wanted, psPerPixel).filter(({ boxes }) =>
        isFine(boxes, track, psPerPixel)
      );
      const covered = good.reduce((sum, stretch) => sum + lengthOf(stretch.span), 0);
      return covered < lengthOf(wanted) * (1 - 1e-9);
    });
  }

  /** Whether a closer look would show more of some tracks than there is. */
  isCoarse(tracks: readonly number[], span: Span, psPerPixel: number): boolean {
    return tracks.some((track) =>
      this.stretches(track, span, psPerPixel).some(
        ({ boxes }) => !boxes.isExact(track) && boxes.psPerPixel > psPerPixel * COARSE
      )
    );
  }

  private _isOverview({ span }: Boxes): boolean {
    return span.start <= this._bounds.start && span.end >= this._bounds.end;
  }
}

function best(answers: readonly Boxes[], track: number, piece: Span, psPerPixel: number): Boxes | null {
  let found: Boxes | null = null;
  for (const boxes of answers) {
    const covers = boxes.span.start <= piece.start && boxes.span.end >= piece.end;
    if (covers && (found === null || isBetter(boxes, found, track, psPerPixel))) {
      found = boxes;
    }
  }
  return found;
}

/** Of those fine enough the coarsest, which has the least to draw; else the finest; else the newest. */
function isBetter(a: Boxes, b: Boxes, track: number, psPerPixel: number): boolean {
  const fineA = isFine(a, track, psPerPixel);
  if (fineA !== isFine(b, track, psPerPixel)) {
    return fineA;
  }
  return fineA ? a.psPerPixel >= b.psPerPixel : a.psPerPixel <= b.psPerPixel;
}

function isFine(boxes: Boxes, track: number, psPerPixel: number): boolean {
  return !boxes.isSketch && (boxes.isExact(track) || boxes.psPerPixel <= psPerPixel * SLACK);
}

export function overlap(a: Span, b: Span): boolean {
  return a.start < b.end && b.start < a.end;
}

/** The boxes of a track in stretches of a span, lane by lane, each once: one that reaches over an edge is where it begins. */
export function rowsOnce(
  stretches: readonly Stretch[],
  track: number,
  whole: Span
): { readonly boxes: Boxes; readonly row: number }[] {
  const found: { readonly boxes: Boxes; readonly row: number }[] = [];
  for (const { boxes, span } of stretches) {
    for (const { from, to } of boxes.lanes(track).values()) {
      for (let row = from; row < to; row++) {
        const box = { start: boxes.start[row] ?? 0, end: boxes.end[row] ?? 0 };
        // What began before is of the first stretch.
        const begins = box.start >= span.start || span.start === whole.start;
        if (overlap(box, span) && begins) {
          found.push({ boxes, row });
        }
      }
    }
  }
  return found;
}
