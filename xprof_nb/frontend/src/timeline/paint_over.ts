/** Draws what lies over the tracks and changes often: pointer, selection, markers, flows. */
import type { Marker } from './markers';
import type { Palette } from './palette';
import type { Pen } from './pen';
import type { Scale, Span } from './span';

/** A box on screen, in pixels. */
export interface Frame {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface Overlay {
  readonly scale: Scale;
  readonly height: number;
  readonly pixel: number;
  readonly palette: Palette;
  readonly hovered: Frame | null;
  readonly selected: Frame | null;
  readonly area: Frame | null;
  /** Producer to consumer, as points on screen. */
  readonly flows: readonly {
    readonly from: readonly [number, number];
    readonly to: readonly [number, number];
  }[];
  readonly markers: readonly Marker[];
  /** The stretch between two markers that all tables are about. */
  readonly focus: Span | null;
  readonly pointerX: number | null;
}

const DIM = 0.6;

export function paintOverlay(pen: Pen, overlay: Overlay): void {
  const { scale, height, palette } = overlay;
  if (overlay.focus !== null) {
    pen.globalAlpha = DIM;
    pen.fillStyle = palette.page;
    const left = Math.max(0, scale.x(overlay.focus.start));
    const right = Math.min(scale.width, scale.x(overlay.focus.end));
    pen.fillRect(0, 0, left, height);
    pen.fillRect(right, 0, Math.max(0, scale.width - right), height);
  }
  if (overlay.area !== null) {
    const { x, y, width, height: tall } = overlay.area;
    pen.globalAlpha = 0.14;
    pen.fillStyle = palette.select;
    pen.fillRect(x, y, width, tall);
    pen.globalAlpha = 1;
    outline(pen, overlay.area, palette.select, 1);
  }
  pen.globalAlpha = 1;
  paintFlows(pen, overlay);
  if (overlay.hovered !== null) {
    outline(pen, overlay.hovered, palette.ink, 1);
  }
  if (overlay.selected !== null) {
    outline(pen, overlay.selected, palette.select, 2);
  }
  for (const marker of overlay.markers) {
    line(pen, scale.x(marker.time), height, marker.colour, overlay);
  }
  if (overlay.pointerX !== null) {
    pen.globalAlpha = 0.5;
    line(pen, overlay.pointerX, height, palette.faint, overlay);
    pen.globalAlpha = 1;
  }
}

function paintFlows(pen: Pen, { flows, palette }: Overlay): void {
  pen.strokeStyle = palette.ink;
  pen.lineWidth = 1;
  pen.setLineDash([3, 2]);
  pen.beginPath();
  for (const { from, to } of flows) {
    pen.moveTo(...from);
    pen.lineTo(...to);
  }
  pen.stroke();
  pen.setLineDash([]);
}

function outline(pen: Pen, frame: Frame, colour: string, width: number): void {
  pen.strokeStyle = colour;
  pen.lineWidth = width;
  const inset = width / 2;
  pen.strokeRect(
    frame.x - inset,
    frame.y - inset,
    Math.max(frame.width, 1) + 2 * inset,
    Math.max(frame.height, 1) + 2 * inset
  );
}

function line(pen: Pen, x: number, height: number, colour: string, { scale, pixel }: Overlay): void {
  if (x >= -1 && x <= scale.width + 1) {
    pen.fillStyle = colour;
    pen.fillRect(Math.round(x / pixel) * pixel, 0, Math.max(1, pixel), height);
  }
}
