/** Which part of a drawing is in its window: pans by dragging, zooms about a point. */
import type { Point } from './layout';

export interface Extent {
  readonly width: number;
  readonly height: number;
}

const SMALLEST = 0.05;
const LARGEST = 4;
const MARGIN_PX = 16;
/** Below that, no text can be read: what does not fit at it is panned to. */
const LEGIBLE = 0.9;

export class Camera {
  scale = 1;
  private _x = 0;
  private _y = 0;

  get transform(): string {
    return `translate(${this._x.toFixed(1)} ${this._y.toFixed(1)}) scale(${this.scale.toFixed(4)})`;
  }

  /** Show all of a drawing. */
  fit(drawing: Extent, window: Extent): void {
    const room = {
      width: Math.max(window.width - 2 * MARGIN_PX, 1),
      height: Math.max(window.height - 2 * MARGIN_PX, 1)
    };
    const whole = Math.min(
      room.width / Math.max(drawing.width, 1),
      room.height / Math.max(drawing.height, 1)
    );
    this.scale = bounded(Math.min(whole, 1));
    this._x = (window.width - drawing.width * this.scale) / 2;
    this._y = (window.height - drawing.height * this.scale) / 2;
  }

  /** Show all of a drawing, or as much of it around a point as can be read. */
  begin(drawing: Extent, window: Extent, point: Point): void {
    this.fit(drawing, window);
    if (this.scale < LEGIBLE) {
      this.scale = LEGIBLE;
      this.center(point, window);
    }
  }

  /** Bring a point of the drawing into the middle. */
  center(point: Point, window: Extent): void {
    this._x = window.width / 2 - point.x * this.scale;
    this._y = window.height / 2 - point.y * this.scale;
  }

  /** Bring a point into the window if it is outside. */
  reveal(point: Point, window: Extent): void {
    const [x, y] = [point.x * this.scale + this._x, point.y * this.scale + this._y];
    const margin = 4 * MARGIN_PX;
    const isInside = x >= margin && y >= margin && x <= window.width - margin && y <= window.height - margin;
    if (!isInside) {
      this.center(point, window);
    }
  }

  /** Zoom about a point of the window. */
  zoom(factor: number, about: Point): void {
    const scale = bounded(this.scale * factor);
    this._x = about.x - ((about.x - this._x) * scale) / this.scale;
    this._y = about.y - ((about.y - this._y) * scale) / this.scale;
    this.scale = scale;
  }

  pan(dx: number, dy: number): void {
    this._x += dx;
    this._y += dy;
  }
}

function bounded(scale: number): number {
  return Math.max(SMALLEST, Math.min(scale, LARGEST));
}
