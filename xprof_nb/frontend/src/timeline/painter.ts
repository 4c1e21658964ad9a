/** Puts the state on the canvases. */
import { h } from '../dom';
import { Batch } from './batch';
import type { Boxes } from './boxes';
import { laneTop, type Seen } from './layout';
import { Lettering } from './lettering';
import { type Density, densityOf, paintDensity, paintMinimap } from './minimap';
import { paintTracks } from './paint';
import { type Frame, paintOverlay } from './paint_over';
import { paintRuler } from './paint_ruler';
import { type Palette, paletteOf } from './palette';
import type { Pen } from './pen';
import { frameOf, type Picked } from './picking';
import { Scale, type Span } from './span';
import type { Layer, Stage } from './stage';
import type { Area, State } from './state';

export class Painter {
  private readonly _lettering = new Lettering();
  private readonly _batch = new Batch();
  private _palette: Palette | null = null;
  private _density: { readonly of: Boxes; readonly density: Density } | null = null;
  /** The minimap without its brush: it changes with the theme and the size only. */
  private _ground: HTMLCanvasElement | null = null;

  constructor(
    private readonly _root: HTMLElement,
    private readonly _stage: Stage,
    private readonly _state: State,
    private readonly _span: () => Span
  ) {}

  /** The theme changed. */
  forgetColours(): void {
    this._palette = null;
    this._ground = null;
  }

  get palette(): Palette {
    this._palette ??= paletteOf(this._root);
    return this._palette;
  }

  get scale(): Scale {
    return new Scale(this._span(), this._stage.width);
  }

  get scrollTop(): number {
    return this._stage.scrollTop;
  }

  /** The tracks on screen. */
  seen(): Seen[] {
    return this._state.layout.seen(this.scrollTop, this._stage.height);
  }

  paint(layers: ReadonlySet<Layer>): void {
    const { width, height, minimapHeight, rulerHeight } = this._stage;
    if (width <= 0) {
      return;
    }
    const on = (
      layer: Layer,
      canvas: HTMLCanvasElement,
      tall: number,
      draw: (pen: CanvasRenderingContext2D) => void
    ) => {
      const pen = layers.has(layer) ? this._stage.pen(canvas, width, tall) : null;
      if (pen !== null) {
        draw(pen);
      }
    };
    on('tracks', this._stage.tracks, height, (pen) => this.paintTracks(pen, height, this.seen()));
    on('over', this._stage.over, height, (pen) => {
      pen.clearRect(0, 0, width, height);
      this._paintOver(pen);
    });
    on('ruler', this._stage.ruler, rulerHeight, (pen) => this.paintRuler(pen));
    on('minimap', this._stage.minimap, minimapHeight, (pen) => this._paintMinimap(pen));
  }

  paintTracks(pen: Pen, height: number, seen: readonly Seen[]): void {
    const { scale } = this;
    paintTracks(pen, {
      scale,
      height,
      seen,
      pinnedHeight: this._state.layout.pinnedHeight,
      pixel: 1 / this._stage.ratio,
      palette: this.palette,
      lettering: this._lettering,
      batch: this._batch,
      names: this._state.names,
      waiting: this._state.isWaiting ? 'Laying out the events of this track…' : '',
      stretches: (track) => this._state.stretches(track, scale.span, scale.psPerPixel)
    });
  }

  paintRuler(pen: Pen): void {
    paintRuler(pen, {
      scale: this.scale,
      height: this._stage.rulerHeight,
      palette: this.palette,
      lettering: this._lettering,
      markers: this._state.markers.list,
      range: this._state.area?.span ?? this._state.focus
    });
  }

  private _paintOver(pen: Pen): void {
    const { hovered, selected, area, flows, markers, focus, pointer } = this._state;
    const { scale } = this;
    const seen = new Map(this.seen().map((one) => [one.place.row.track.id, one]));
    const frame = (picked: Picked | null) => {
      const place = picked === null ? undefined : seen.get(picked.track);
      return picked === null || place === undefined ? null : frameOf(picked, place, scale);
    };
    const from = selected === null ? undefined : seen.get(selected.track);
    paintOverlay(pen, {
      scale,
      height: this._stage.height,
      pixel: 1 / this._stage.ratio,
      palette: this.palette,
      hovered: frame(hovered),
      selected: frame(selected),
      area: area === null ? null : this._areaFrame(area, scale),
      flows:
        selected === null || from === undefined
          ? []
          : flows.flatMap((flow) => {
              const to = seen.get(flow.track);
              return to === undefined
                ? []
                : [
                    {
                      from: middle(selected.start, from, selected.lane, scale),
                      to: middle(flow.start, to, flow.lane, scale)
                    }
                  ];
            }),
      markers: markers.list,
      focus,
      pointerX: pointer?.x ?? null
    });
  }

  private _areaFrame({ span, tracks, edges }: Area, scale: Scale): Frame {
    const left = Math.max(-2, scale.x(span.start));
    const right = Math.min(scale.width + 2, scale.x(span.end));
    const shown = this.seen().filter(({ place }) => tracks.includes(place.row.track.id));
    const top = edges?.top ?? Math.min(...shown.map(({ y }) => y), this._stage.height);
    const bottom = edges?.bottom ?? Math.max(...shown.map(({ y, place }) => y + place.height), 0);
    return { x: left, y: top, width: Math.max(1, right - left), height: Math.max(0, bottom - top) };
  }

  private _paintMinimap(pen: CanvasRenderingContext2D): void {
    const { bounds, markers, hits } = this._state;
    const scale = new Scale(bounds, this._stage.width);
    const height = this._stage.minimapHeight;
    pen.drawImage(this._minimapGround(scale, height), 0, 0, scale.width, height);
    const { palette } = this;
    paintMinimap(pen, { scale, height, palette, window: this._span(), markers: markers.list, hits });
  }

  private _minimapGround(scale: Scale, height: number): HTMLCanvasElement {
    const { levels, tracks } = this._state;
    const whole = levels.overview;
    const width = Math.max(1, Math.floor(scale.width));
    if (this._ground !== null && this._ground.width === width && this._density?.of === (whole ?? undefined)) {
      return this._ground;
    }
    this._density = whole === null ? null : { of: whole, density: densityOf(tracks, whole, scale) };
    this._ground = h('canvas', { attrs: { width, height } });
    const pen = this._ground.getContext('2d');
    if (pen !== null) {
      paintDensity(pen, this._density?.density ?? null, width, height, this.palette);
    }
    return this._ground;
  }
}

function middle(time: number, seen: Seen, lane: number, scale: Scale): [number, number] {
  return [scale.x(time), laneTop(seen, lane) + seen.place.laneHeight / 2];
}
