/** The colours of the page as the canvas needs them, read once per theme. */
import { KINDS } from '../kinds';
import { SHADES } from './boxes';

type Rgb = readonly [number, number, number];

export interface Ink {
  readonly fill: string;
  /** The colour of text on it. */
  readonly text: string;
}

export interface Palette {
  /** By colour code: kind and shade. */
  readonly boxes: readonly Ink[];
  readonly page: string;
  readonly raised: string;
  readonly ink: string;
  readonly faint: string;
  readonly line: string;
  readonly select: string;
  readonly mark: string;
  readonly idleLine: string;
  readonly font: string;
}

const DARK_TEXT = '#14181d';
const LIGHT_TEXT = '#ffffff';
const SHADE_STEP = 0.06;
const WHITE: Rgb = [255, 255, 255];

/** Read the palette of an element of the view. */
export function paletteOf(el: HTMLElement): Palette {
  const style = getComputedStyle(el);
  const named = (name: string, otherwise: string) =>
    style.getPropertyValue(`--xprof-${name}`).trim() || otherwise;
  const page = named('page', '#ffffff');
  const ground = rgb(page) ?? WHITE;
  return {
    boxes: KINDS.flatMap((kind) => {
      const own = rgb(named(`kind-${kind.id}`, '#6b7280')) ?? WHITE;
      return Array.from({ length: SHADES }, (_, step) => inkOf(mixed(own, ground, 1 - step * SHADE_STEP)));
    }),
    page,
    raised: named('raised', '#f3f4f6'),
    ink: named('ink', '#1f2328'),
    faint: named('faint', '#4b5563'),
    line: named('line', '#e0e0e0'),
    select: named('select', '#1976d2'),
    mark: named('mark', '#ffe58a'),
    idleLine: named('idle-line', '#9ca3af'),
    font: style.fontFamily || 'sans-serif'
  };
}

/** Black or white, whichever is easier to read on a colour. */
function inkOf(colour: Rgb): Ink {
  const light = luminance(colour);
  const onDark = 1.05 / (light + 0.05);
  const onLight = (light + 0.05) / (luminance([20, 24, 29]) + 0.05);
  return {
    fill: `rgb(${colour.map(Math.round).join(', ')})`,
    text: onDark > onLight ? LIGHT_TEXT : DARK_TEXT
  };
}

function luminance(colour: Rgb): number {
  const [red, green, blue] = colour.map((part) => {
    const share = part / 255;
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function mixed(a: Rgb, b: Rgb, part: number): Rgb {
  return [0, 1, 2].map((i) => (a[i] ?? 0) * part + (b[i] ?? 0) * (1 - part)) as unknown as Rgb;
}

/** `#abc`, `#aabbcc`, `rgb(…)`; null for what it cannot read. */
export function rgb(colour: string): Rgb | null {
  const hex = /^#([\da-f]{3}|[\da-f]{6})$/i.exec(colour)?.[1];
  if (hex !== undefined) {
    const full = hex.length === 3 ? [...hex].map((digit) => digit + digit).join('') : hex;
    return [0, 2, 4].map((at) => Number.parseInt(full.slice(at, at + 2), 16)) as unknown as Rgb;
  }
  const parts = /^rgba?\(([^)]*)\)$/
    .exec(colour)?.[1]
    ?.match(/[\d.]+/g)
    ?.map(Number);
  return parts !== undefined && parts.length >= 3 ? ([parts[0], parts[1], parts[2]] as unknown as Rgb) : null;
}
