/** The roofline drawn: roofs, ridges, and the points of the rows that are shown. */
import type { Model, Plot, Source } from '../chart/bokeh';
import { ChartBox } from '../chart/box';
import { FONT, type Kit } from '../chart/kit';
import { stringAt } from '../columns';
import { button, h } from '../dom';
import { flopRate, significant } from '../format';
import type { Summary } from '../host';
import { kindOf } from '../kinds';
import { record, text } from '../payload';
import type { AnswerFrame, Part } from '../shell/answer';
import { isSame } from '../shell/choice';
import type { Choice } from '../shell/link';
import type { Selects } from '../shell/selects';
import { captionOf } from './caption';
import { choiceOfRow } from './choice';
import { explainPoint, explainRidge, explainRoof } from './explain';
import { boundOf, PROGRAM, STEP, shapeOf } from './looks';
import { diameter, levelsOf, logRange, type Placed, type Point, place } from './points';
import {
  clusters,
  levelName,
  merged,
  type Ridge,
  type Roof,
  ridgesOf,
  ridgesText,
  roofsOf,
  roofsText,
  shortened
} from './roofs';

const HEIGHT_PX = 420;
const AXIS_PX = 60;
/** Below this, only the roofs that points are held against have labels; hovering names the others. */
const NARROW_PX = 640;
/** Of a label above a line and one below the line above it. */
const LABEL_PX = 30;
/** Roofs go on far beyond what is in view. */
const FAR = 1e9;
/** Of a label's letters, at 11 px. */
const CHARACTER_PX = 6.2;
/** What the scale of the y axis and the borders take of the width. */
const BORDERS_PX = 110;
const DASHES: Readonly<Record<string, string>> = { measured: 'dashed', user: 'dotdash' };

export class RooflineChart implements Part {
  readonly node: HTMLElement;
  private readonly _chart: ChartBox;
  private readonly _levels = h('span', { class: 'jp-XprofChoices', attrs: { role: 'group' } });
  private readonly _caption = h('div', { class: 'jp-Roofline-caption' });
  private _placed: Placed = { points: [], undrawn: [] };
  private _roofs: readonly Roof[] = [];
  private _level = '';
  private _choice: Choice = {};
  private _source: Source | null = null;
  private _select = '';

  constructor(
    private readonly _frame: AnswerFrame,
    private readonly _selects: Selects
  ) {
    this._chart = new ChartBox(_frame.host, {
      title: 'Roofline',
      description:
        'FLOP rate over arithmetic intensity, both logarithmic. Roofs are lines, ops are points whose area is their time, colour what bounds them, and shape the kind of their work.',
      height: HEIGHT_PX,
      draw: (kit) => this._draw(kit)
    });
    this.node = h('div', {}, this._levels, this._chart.node, this._caption);
  }

  start(): void {
    this._chart.start();
  }

  update(): void {
    const { table, summary } = this._frame.answer;
    const levels = levelsOf(table);
    this._level = levels.includes(this._level) ? this._level : (levels[0] ?? 'hbm');
    this._roofs = roofsOf(summary);
    this._placed = place(table, this._frame.grid.shown, this._level, levelName(this._level));
    this._selects.update();
    this._drawLevels(levels);
    this._caption.replaceChildren(...captionOf(this._frame, this._placed, this._roofs, this._level));
    void this._chart.redraw();
  }

  get kept(): Summary {
    return { level: this._level, only: this._selects.kept };
  }

  adopt({ level, only }: Summary): void {
    this._level = text(level);
    this._selects.adopt(record(only));
    this.update();
  }

  follow(choice: Choice): void {
    this._choice = choice;
    if (this._source !== null) {
      this._source.data = { ...this._source.data, ...this._outlines() };
    }
  }

  dispose(): void {
    this._chart.dispose();
  }

  private _drawLevels(levels: readonly string[]): void {
    this._levels.hidden = levels.length < 2;
    this._levels.setAttribute('aria-label', 'Memory whose arithmetic intensity is shown');
    this._levels.replaceChildren(
      h('span', { class: 'jp-XprofChoices-label' }, 'bytes of'),
      h(
        'span',
        { class: 'jp-XprofChoices-box' },
        ...levels.map((level) =>
          button(levelName(level), {
            class: 'jp-XprofChoice',
            attrs: { 'aria-pressed': level === this._level },
            data: { level },
            click: () => {
              this._level = level;
              this.update();
              this._levels.querySelector<HTMLElement>(`[data-level="${level}"]`)?.focus();
            }
          })
        )
      )
    );
  }

  private _draw(kit: Kit): Plot {
    const { points } = this._placed;
    const ridges = ridgesOf(this._roofs, this._level);
    const xs = [...points.map(({ intensity }) => intensity), ...ridges.map((ridge) => ridge.flopsPerByte)];
    const ys = [...points.map(({ flopsPerS }) => flopsPerS), ...ridges.map((ridge) => ridge.flopsPerS)];
    const [x, y] = [logRange(xs), logRange(ys)];
    const plot = kit.plot({
      x: {
        scale: 'log',
        range: x,
        label: `arithmetic intensity, FLOP per byte of ${levelName(this._level)}`,
        write: significant
      },
      y: { scale: 'log', range: y, label: 'FLOP/s', write: flopRate },
      height: HEIGHT_PX
    });
    this._drawRoofs(kit, plot, x, y);
    this._drawRidges(kit, plot, ridges, x, y);
    this._drawPoints(kit, plot);
    return plot;
  }

  private _drawRoofs(kit: Kit, plot: Plot, x: readonly [number, number], y: readonly [number, number]): void {
    const memory = this._roofs.filter(({ isMemory }) => isMemory);
    const compute = merged(this._roofs.filter(({ isMemory }) => !isMemory));
    const believed = compute.filter(({ isOther }) => !isOther);
    const highest = Math.max(...believed.map(({ value }) => value), 0);
    const speed = memory.find(({ name, isOther }) => name === this._level && !isOther)?.value ?? Number.NaN;
    for (const roof of memory) {
      const isMain = roof.name === this._level;
      const end = highest > 0 ? highest / roof.value : x[1] * FAR;
      const line = [end / FAR / FAR, end];
      this._drawRoof(
        kit,
        plot,
        roof,
        line,
        line.map((at) => at * roof.value),
        isMain
      );
    }
    const [main, others] = [true, false].map((isMain) =>
      memory.filter(({ name, isOther }) => !isOther && (name === this._level) === isMain)
    ) as [Roof[], Roof[]];
    const isNarrow = this.node.clientWidth < NARROW_PX;
    const told = isNarrow ? [] : clusters(others, ({ value }) => value, labelFactor(y));
    for (const near of [main, ...told]) {
      const lowest = near[near.length - 1];
      const at = lowest === undefined ? Number.NaN : Math.max(x[0] * 1.15, (y[0] * 1.5) / lowest.value);
      if (lowest !== undefined && at < x[1]) {
        const place = { x: at, y: at * lowest.value, x_offset: 4, y_offset: -14 };
        const text_color = near === main ? kit.colours.ink : kit.colours.faint;
        const room = this._characters(1 - shareOf(at, x));
        label(kit, plot, shortened(roofsText(near), room), { ...place, text_color });
      }
    }
    for (const roof of compute) {
      const begin = Number.isNaN(speed) ? x[0] / FAR : roof.value / speed;
      this._drawRoof(kit, plot, roof, [begin, x[1] * FAR], [roof.value, roof.value], true);
    }
    for (const near of clusters(compute, ({ value }) => value, labelFactor(y))) {
      const text = shortened(roofsText(near), this._characters(0.96));
      label(kit, plot, text, { x: x[1] / 1.05, y: near[0]?.value, y_offset: 1, text_align: 'right' });
    }
  }

  private _drawRoof(
    kit: Kit,
    plot: Plot,
    roof: Roof & { readonly names?: string },
    x: readonly number[],
    y: readonly number[],
    isMain: boolean
  ): void {
    const line = kit.model('Line', {
      x: { field: 'x' },
      y: { field: 'y' },
      line_color: isMain && !roof.isOther ? kit.colours.ink : kit.colours.faint,
      line_alpha: isMain ? 0.9 : 0.45,
      line_width: isMain && !roof.isOther ? 1.8 : 1,
      line_dash: DASHES[roof.label] ?? 'solid'
    });
    const drawn = plot.add_glyph(line, kit.source({ x, y }));
    drawn.name = `roof ${roof.name} ${roof.label}`;
    kit.hover(plot, [drawn], () => explainRoof(roof));
  }

  private _drawRidges(
    kit: Kit,
    plot: Plot,
    ridges: readonly Ridge[],
    x: readonly [number, number],
    y: readonly [number, number]
  ): void {
    if (ridges.length === 0) {
      return;
    }
    const source = kit.source({
      x: ridges.map((ridge) => ridge.flopsPerByte),
      y: ridges.map((ridge) => ridge.flopsPerS)
    });
    const marks = plot.add_glyph(
      kit.model('Scatter', {
        x: { field: 'x' },
        y: { field: 'y' },
        marker: { value: 'diamond' },
        size: 8,
        fill_color: kit.colours.page,
        line_color: kit.colours.ink
      }),
      source
    );
    marks.name = 'ridges';
    for (const near of clusters(ridges, (ridge) => ridge.flopsPerS, labelFactor(y))) {
      const lowest = near[near.length - 1] as Ridge;
      // Where a label has no room to its right it stands to the left, clear of the roof that rises there.
      const share = shareOf(lowest.flopsPerByte, x);
      const isFarRight = share > 0.7;
      const side = isFarRight
        ? { x_offset: -12, y_offset: 4, text_align: 'right' }
        : { x_offset: 4, y_offset: -16 };
      const place = { x: lowest.flopsPerByte, y: lowest.flopsPerS, ...side };
      const room = this._characters(isFarRight ? share : 1 - share) - 2;
      label(kit, plot, shortened(ridgesText([...near].reverse()), room), place);
    }
    kit.hover(plot, [marks], (row) => (ridges[row] === undefined ? [] : explainRidge(ridges[row])));
  }

  /** How many letters fit into a share of the width of the plot. */
  private _characters(share: number): number {
    const width = this.node.clientWidth || Number.POSITIVE_INFINITY;
    return Math.floor((share * (width - BORDERS_PX)) / CHARACTER_PX);
  }

  private _drawPoints(kit: Kit, plot: Plot): void {
    const { points } = this._placed;
    const { table } = this._frame.answer;
    const ops = points.filter(({ what }) => what === 'op');
    const longest = Math.max(0, ...ops.map(({ timePs }) => timePs));
    this._select = kit.colours.select;
    const source = kit.source({
      x: points.map(({ intensity }) => intensity),
      y: points.map(({ flopsPerS }) => flopsPerS),
      row: points.map(({ row }) => row),
      size: points.map((point) => diameter(point, longest)),
      marker: points.map((point) => markerOf(point, stringAt(table, 'work_kind', point.row))),
      fill: points.map((point) => fillOf(kit, point, stringAt(table, 'bound_by', point.row))),
      mark: points.map(({ isSuspicious }) => (isSuspicious ? '⚠' : '')),
      base: points.map((point) => lineOf(kit, point, stringAt(table, 'bound_by', point.row)))
    });
    this._source = source;
    source.data = { ...source.data, ...this._outlines() };
    const drawn = plot.add_glyph(
      kit.model('Scatter', {
        x: { field: 'x' },
        y: { field: 'y' },
        size: { field: 'size' },
        marker: { field: 'marker' },
        fill_color: { field: 'fill' },
        fill_alpha: 0.8,
        line_color: { field: 'line' },
        line_width: { field: 'width' }
      }),
      source
    );
    drawn.name = 'points';
    // BokehJS would fade what is not selected; the outline says it.
    drawn.nonselection_glyph = null;
    drawn.selection_glyph = null;
    plot.add_glyph(
      kit.model('Text', {
        x: { field: 'x' },
        y: { field: 'y' },
        text: { field: 'mark' },
        text_color: kit.colours.warn,
        text_font_size: '13px',
        x_offset: 6,
        y_offset: -4
      }),
      source
    );
    kit.hover(plot, [drawn], (row) => this._explain(points[row]));
    kit.clicks(plot, [drawn], source, (row) => {
      const point = row === null ? undefined : points[row];
      const choice = point === undefined ? {} : choiceOfRow(table, point.row);
      this.follow(choice);
      this._frame.choose(choice);
    });
  }

  private _explain(point: Point | undefined): readonly string[] {
    return point === undefined ? [] : explainPoint(this._frame.answer.table, point, this._level, this._roofs);
  }

  /** The outlines of the points: thick and in the colour of the selection where one is chosen. */
  private _outlines(): { readonly line: readonly string[]; readonly width: readonly number[] } {
    const base = (this._source?.data.base ?? []) as ArrayLike<string>;
    const isChosen = this._placed.points.map(({ row }) =>
      isSame(choiceOfRow(this._frame.answer.table, row), this._choice)
    );
    return {
      line: isChosen.map((chosen, index) => (chosen ? this._select : (base[index] ?? ''))),
      width: isChosen.map((chosen) => (chosen ? 3.5 : 1))
    };
  }
}

function markerOf({ what }: Point, kind: string | null): string {
  return { program: PROGRAM, step: STEP, op: shapeOf(kindOf(kind)) }[what].marker;
}

function fillOf(kit: Kit, { what }: Point, bound: string | null): string {
  const { colour } = boundOf(bound);
  const ofOp = colour === null ? kit.colours.page : kit.kind(colour);
  return { program: kit.colours.page, step: 'transparent', op: ofOp }[what];
}

function lineOf(kit: Kit, { what, isSuspicious }: Point, bound: string | null): string {
  if (isSuspicious) {
    return kit.colours.warn;
  }
  return what === 'op' && boundOf(bound).colour !== null ? kit.colours.page : kit.colours.ink;
}

/** Where a value lies on a logarithmic axis, from 0 to 1. */
function shareOf(value: number, [low, high]: readonly [number, number]): number {
  return Math.log(value / low) / Math.log(high / low);
}

/** How far apart two heights must be, as a factor, for their labels to have room. */
function labelFactor([low, high]: readonly [number, number]): number {
  return (high / low) ** (LABEL_PX / (HEIGHT_PX - AXIS_PX));
}

function label(kit: Kit, plot: Plot, text: string, place: object): Model {
  const made = kit.model('Label', {
    text,
    text_color: kit.colours.ink,
    text_font: FONT,
    text_font_size: '11px',
    background_fill_color: kit.colours.page,
    background_fill_alpha: 0.7,
    ...place
  });
  plot.add_layout(made);
  return made;
}
