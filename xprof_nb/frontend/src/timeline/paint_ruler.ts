/** Draws the time axis with the flags of the markers on it. */
import type { Lettering } from './lettering';
import type { Marker } from './markers';
import type { Palette } from './palette';
import type { Pen } from './pen';
import type { Scale, Span } from './span';
import { axisOf } from './ticks';

export interface Ruler {
  readonly scale: Scale;
  readonly height: number;
  readonly palette: Palette;
  readonly lettering: Lettering;
  readonly markers: readonly Marker[];
  readonly range: Span | null;
}

const TICK_PX = 5;
const LABEL_Y = 8;
const FLAG_PX = 13;
const FLAG_TEXT_PX = 90;
/** The colours of markers are dark in every theme. */
const FLAG_INK = '#fff';

export function paintRuler(pen: Pen, ruler: Ruler): void {
  const { scale, height, palette } = ruler;
  pen.globalAlpha = 1;
  pen.fillStyle = palette.raised;
  pen.fillRect(0, 0, scale.width, height);
  if (ruler.range !== null) {
    const left = Math.max(0, scale.x(ruler.range.start));
    pen.globalAlpha = 0.3;
    pen.fillStyle = palette.select;
    pen.fillRect(left, 0, Math.max(1, Math.min(scale.width, scale.x(ruler.range.end)) - left), height);
    pen.globalAlpha = 1;
  }
  pen.font = `11px ${palette.font}`;
  pen.textAlign = 'left';
  pen.textBaseline = 'middle';
  for (const { time, label } of axisOf(scale.span, scale.width).ticks) {
    const x = scale.x(time);
    pen.fillStyle = palette.faint;
    pen.fillRect(x, height - TICK_PX, 1, TICK_PX);
    const width = pen.measureText(label).width;
    const left = Math.min(Math.max(2, x - width / 2), scale.width - width - 2);
    pen.fillText(label, left, LABEL_Y);
  }
  paintFlags(pen, ruler);
}

function paintFlags(pen: Pen, { scale, height, lettering, markers }: Ruler): void {
  for (const { time, colour, name } of markers) {
    const x = scale.x(time);
    if (x >= -FLAG_TEXT_PX && x <= scale.width) {
      const text = lettering.fit(pen, name, FLAG_TEXT_PX);
      pen.fillStyle = colour;
      pen.fillRect(x, height - FLAG_PX, pen.measureText(text).width + 8, FLAG_PX);
      pen.fillStyle = FLAG_INK;
      pen.fillText(text, x + 4, height - FLAG_PX / 2);
    }
  }
}
