/** The timeline as a picture: the names of the tracks, the axis and the tracks, as PNG or SVG. */
import { h } from '../dom';
import type { Seen } from './layout';
import { Lettering, visible } from './lettering';
import type { Palette } from './palette';
import type { Pen } from './pen';
import { SvgPen } from './svg_pen';

/** What to draw and how large; heights in CSS pixels. */
export interface Picture {
  readonly title: string;
  readonly width: number;
  readonly axisHeight: number;
  readonly tracksHeight: number;
  readonly seen: readonly Seen[];
  readonly palette: Palette;
  paintAxis(pen: Pen): void;
  paintTracks(pen: Pen): void;
}

const NAMES_PX = 180;
const TITLE_PX = 24;
const PNG_RATIO = 2;

export async function toPng(picture: Picture): Promise<Blob> {
  const { width, height } = sizeOf(picture);
  const canvas = h('canvas', { attrs: { width: width * PNG_RATIO, height: height * PNG_RATIO } });
  const pen = canvas.getContext('2d');
  if (pen === null) {
    throw new Error('This browser cannot draw the picture.');
  }
  pen.scale(PNG_RATIO, PNG_RATIO);
  paint(pen, picture, (x, y, draw) => {
    pen.save();
    pen.translate(x, y);
    draw(pen);
    pen.restore();
  });
  return new Promise((resolve, reject) => {
    canvas.toBlob(
      (blob) => (blob === null ? reject(new Error('The picture is too large.')) : resolve(blob)),
      'image/png'
    );
  });
}

export function toSvg(picture: Picture): string {
  const { width, height } = sizeOf(picture);
  const pen = new SvgPen();
  paint(pen, picture, (x, y, draw) => pen.within(x, y, () => draw(pen)));
  return pen.document(width, height, picture.title);
}

function sizeOf({ width, axisHeight, tracksHeight }: Picture): {
  readonly width: number;
  readonly height: number;
} {
  return { width: width + NAMES_PX, height: TITLE_PX + axisHeight + tracksHeight };
}

function paint(
  pen: Pen,
  picture: Picture,
  at: (x: number, y: number, draw: (pen: Pen) => void) => void
): void {
  const { palette, axisHeight, title } = picture;
  const { width, height } = sizeOf(picture);
  pen.fillStyle = palette.page;
  pen.fillRect(0, 0, width, height);
  pen.font = `12px ${palette.font}`;
  pen.textAlign = 'left';
  pen.textBaseline = 'middle';
  pen.fillStyle = palette.ink;
  pen.fillText(visible(title), 8, TITLE_PX / 2);
  at(NAMES_PX, TITLE_PX, (axis) => picture.paintAxis(axis));
  at(NAMES_PX, TITLE_PX + axisHeight, (tracks) => picture.paintTracks(tracks));
  at(0, TITLE_PX + axisHeight, (names) => paintNames(names, picture));
}

function paintNames(pen: Pen, { seen, palette }: Picture): void {
  const lettering = new Lettering();
  pen.globalAlpha = 1;
  pen.font = `12px ${palette.font}`;
  pen.textAlign = 'left';
  pen.textBaseline = 'middle';
  for (const { place, y } of seen) {
    const indent = 8 + (place.row.level - 1) * 10;
    pen.fillStyle = palette.ink;
    pen.fillText(lettering.fit(pen, place.row.track.name, NAMES_PX - indent - 8), indent, y + 12);
  }
}
