/** The switches of the graph: where one was, which program, how far, what colours say, how near. */
import { button, h } from '../dom';
import { bytes, time } from '../format';
import { KINDS, kindOf } from '../kinds';
import { choice, choiceGroup, press } from '../shell/choices';
import { legend } from '../shell/legend';
import { MEASURES, type Measure, measureOf } from './draw';
import type { Where } from './model';
import type { Scene } from './scene';

export interface ToolbarEvents {
  back(): void;
  program(id: string): void;
  radius(radius: number): void;
  measure(measure: Measure): void;
  fit(): void;
  zoom(factor: number): void;
  foldAll(): void;
}

const FARTHEST = 20;
const ZOOM = 1.25;

export class Toolbar {
  readonly legend = h('div', { class: 'jp-XprofGraph-legend' });
  readonly nodes: readonly HTMLElement[];
  private readonly _back: HTMLButtonElement;
  private readonly _program: HTMLSelectElement;
  private readonly _radius: HTMLInputElement;
  private readonly _measures: readonly HTMLButtonElement[];

  /** `fixed` says why another program cannot be asked for; empty when it can. */
  constructor(
    private readonly _fixed: string,
    events: ToolbarEvents
  ) {
    this._back = button('‹ Back', {
      class: 'jp-XprofButton',
      title: 'To the op that was in the middle before (Backspace)',
      click: () => events.back()
    });
    this._program = h('select', {
      class: 'jp-XprofChoice jp-XprofGraph-program',
      title: _fixed || 'The program that is shown',
      attrs: { 'aria-label': 'program' },
      on: { change: () => events.program(this._program.value) }
    });
    this._radius = h('input', {
      class: 'jp-XprofView-input jp-XprofGraph-radius',
      title: 'How many edges around the op in the middle',
      attrs: { type: 'number', min: 0, max: FARTHEST, step: 1, 'aria-label': 'radius in edges' },
      on: { change: () => this._radiusChanged(events) }
    });
    this._measures = MEASURES.map((measure) => choice(measure, measure, () => events.measure(measure)));
    const small = (label: string, title: string, click: () => void) =>
      button(label, { class: 'jp-XprofButton', title, attrs: { 'aria-label': title }, click });
    this.nodes = [
      this._back,
      this._program,
      h('label', { class: 'jp-XprofGraph-label' }, 'radius ', this._radius),
      choiceGroup('colour by', this._measures),
      h(
        'span',
        { class: 'jp-XprofGraph-zoom' },
        small('Fusions', 'Expand or collapse all fusions', () => events.foldAll()),
        small('−', 'Zoom out', () => events.zoom(1 / ZOOM)),
        small('+', 'Zoom in', () => events.zoom(ZOOM)),
        small('Fit', 'Fit: show all of it', () => events.fit())
      )
    ];
  }

  /** Show where one is now. */
  update({ program, program_id, programs, radius }: Where, hasHistory: boolean): void {
    this._back.disabled = !hasHistory;
    const known = programs.some(({ id }) => id === program_id)
      ? programs
      : [{ name: program, id: program_id }, ...programs];
    this._program.replaceChildren(
      ...known.map(({ name, id }) =>
        h('option', { title: id, attrs: { value: id } }, labelOf(name, id, known))
      )
    );
    this._program.value = program_id;
    this._program.disabled = this._fixed !== '';
    this._radius.value = String(radius);
    this._radius.max = String(this._fixed === '' ? FARTHEST : radius);
  }

  /** Say what the colours of a scene mean. */
  explain(measure: Measure, scene: Scene): void {
    press(this._measures, measure);
    const present = new Set(scene.boxes.map(({ op }) => kindOf(op.kind).id));
    const values = scene.boxes.map(({ op }) => measureOf(op, measure)).filter((value) => value > 0);
    const most = Math.max(0, ...values);
    const what =
      measure === 'time'
        ? `self time, ${time(most)} at most`
        : `bytes read and written, ${bytes(most)} at most`;
    const strength =
      values.length > 0 ? `The stronger the colour, the more ${what}.` : 'None of these ops was measured.';
    this.legend.replaceChildren(
      legend(KINDS.filter(({ id }) => present.has(id))),
      ...(measure === 'kind' ? [] : [h('span', {}, strength)])
    );
  }

  private _radiusChanged(events: ToolbarEvents): void {
    const wanted = Math.round(Number(this._radius.value));
    const radius = Math.max(0, Math.min(Number.isNaN(wanted) ? 2 : wanted, Number(this._radius.max)));
    this._radius.value = String(radius);
    events.radius(radius);
  }
}

/** A program's name, with its number where several are called so. */
function labelOf(name: string, id: string, all: Where['programs']): string {
  return all.filter((other) => other.name === name).length > 1 ? `${name} (${id})` : name;
}
