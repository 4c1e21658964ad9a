/** Fits names into boxes: measures each text once, cuts with an ellipsis. */
import type { Pen } from './pen';

const LONGEST_NAME = 160;
const MOST_KEPT = 20_000;
const ELLIPSIS = '…';
const FEWEST_CHARACTERS = 3;

export class Lettering {
  private readonly _widths = new Map<string, number>();
  private readonly _fits = new Map<string, string>();
  private _font = '';

  /** As much of a text as a width holds; empty when that is next to nothing. */
  fit(pen: Pen, text: string, width: number): string {
    if (pen.font !== this._font) {
      this._font = pen.font;
      this.forget();
    }
    const clean = text.length > LONGEST_NAME ? text.slice(0, LONGEST_NAME) : text;
    const full = this._width(pen, clean);
    if (full <= width) {
      return visible(clean);
    }
    // About how many characters fit; the count keys the cache, so that a zoom does not measure every name anew.
    const room = Math.floor((clean.length * (width - this._width(pen, ELLIPSIS))) / full);
    if (room < FEWEST_CHARACTERS) {
      return '';
    }
    const key = `${room}:${clean}`;
    const known = this._fits.get(key);
    if (known !== undefined) {
      return known;
    }
    const fitting = this._cut(pen, clean, room, width);
    this._keep(this._fits, key, fitting);
    return fitting;
  }

  forget(): void {
    this._widths.clear();
    this._fits.clear();
  }

  private _cut(pen: Pen, text: string, room: number, width: number): string {
    for (let length = room; length >= FEWEST_CHARACTERS; length--) {
      const candidate = `${visible(text.slice(0, length)).trimEnd()}${ELLIPSIS}`;
      if (pen.measureText(candidate).width <= width) {
        return candidate;
      }
    }
    return '';
  }

  private _width(pen: Pen, text: string): number {
    const known = this._widths.get(text);
    if (known !== undefined) {
      return known;
    }
    const { width } = pen.measureText(visible(text));
    this._keep(this._widths, text, width);
    return width;
  }

  private _keep<T>(cache: Map<string, T>, key: string, value: T): void {
    if (cache.size >= MOST_KEPT) {
      cache.clear();
    }
    cache.set(key, value);
  }
}

/** A text on one line, without characters that steer the direction of what follows. */
export function visible(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, ' ');
}
