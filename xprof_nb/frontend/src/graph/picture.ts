/** The picture of the graph view: a neighbourhood to walk in, with its search, its switches and what is chosen. */
import { adoptStyle, h } from '../dom';
import { count } from '../format';
import type { Answer, Summary } from '../host';
import { liveHint } from '../hosts/static';
import { dispatchKey, type KeyBinding } from '../keys';
import { record, text, texts } from '../payload';
import type { AnswerFrame, Part } from '../shell/answer';
import type { Choice } from '../shell/link';
import type { MenuItem } from '../shell/menu';
import { aboutOp } from './about';
import { isFolded, leadsInside, MEASURES, type Measure } from './draw';
import { findLive, findSaved } from './find';
import { graphKeys } from './keys';
import { type Neighbourhood, neighbourhoodOf, type Op, type Where, whereOf, withBody } from './model';
import { placeOf } from './place';
import { arrange } from './scene';
import { GraphSearch, type Hit } from './search';
import { Stage } from './stage';
import style from './style.css?inline';
import { TakeOut } from './take_out';
import { Toolbar } from './toolbar';

/** A place one was at, to step back to. */
interface Stop {
  readonly op: string;
  readonly program: string;
}

export class GraphPicture implements Part {
  readonly node: HTMLElement;
  private readonly _stage: Stage;
  private readonly _toolbar: Toolbar;
  private readonly _search: GraphSearch;
  private readonly _takeOut: TakeOut;
  private readonly _place = h('div', { class: 'jp-XprofGraph-place', attrs: { role: 'status' } });
  private readonly _about = h('div', { class: 'jp-XprofGraph-about' });
  private readonly _keys: readonly KeyBinding[];
  private readonly _history: Stop[] = [];
  private readonly _open = new Set<string>();
  private _answer: Answer | null = null;
  private _all: Neighbourhood = { ops: new Map(), edges: [] };
  private _where: Where = whereOf({});
  private _measure: Measure = 'kind';
  private _radius = Number.POSITIVE_INFINITY;
  private _choice: Choice = {};

  constructor(private readonly _frame: AnswerFrame) {
    const { host } = _frame;
    this._stage = new Stage({
      choose: (op) => this._choose(op),
      center: (op) => this._center(op),
      fold: (op) => this._fold(op)
    });
    this._toolbar = new Toolbar(_frame.isLive ? '' : `Saved as it was. ${liveHint(host.snapshot.run.path)}`, {
      back: () => this._back(),
      program: (id) => this._go({ op: '', program: id }),
      radius: (radius) => this._setRadius(radius),
      measure: (measure) => this._setMeasure(measure),
      fit: () => this._stage.fit(),
      zoom: (factor) => this._stage.zoom(factor),
      foldAll: () => this._foldAll()
    });
    this._search = new GraphSearch(
      (words, signal) =>
        _frame.isLive
          ? findLive(host, this._where.program_id, _frame.params, words, signal)
          : Promise.resolve(findSaved(this._all, this._where.program_id, words)),
      (hit) => this._goToHit(hit)
    );
    this._takeOut = new TakeOut(_frame, this._stage, () => this._where);
    this._keys = graphKeys(this._stage, {
      center: (op) => this._center(op),
      choose: (op) => this._choose(op),
      fold: (op) => this._fold(op),
      back: () => this._back()
    });
    this._stage.node.addEventListener('keydown', (event) => {
      if (dispatchKey(event, this._keys)) {
        event.stopPropagation();
      }
    });
    this.node = h(
      'div',
      { class: 'jp-XprofGraph' },
      h('div', { class: 'jp-XprofGraph-bar' }, this._search.node, ...this._toolbar.nodes),
      this._place,
      this._stage.node,
      this._toolbar.legend,
      this._about
    );
  }

  start(): void {
    adoptStyle(this.node, style);
    this._stage.begin(this._where.center);
  }

  update(): void {
    if (this._frame.answer === this._answer) {
      this._mark();
      return;
    }
    const { answer, host } = this._frame;
    this._answer = answer;
    this._all = neighbourhoodOf(answer, answer === host.snapshot ? text(host.snapshot.extra.edges) : '');
    this._where = whereOf(answer.summary);
    this._radius = Number.POSITIVE_INFINITY;
    this._toolbar.update(this._where, this._history.length > 0);
    this._stage.current = this._where.center;
    this._redraw();
    this._stage.begin(this._where.center);
  }

  follow(choice: Choice): void {
    const isNew = choice.op !== this._choice.op || choice.program_id !== this._choice.program_id;
    this._choice = choice;
    this._mark();
    if (!isNew || choice.op === undefined) {
      return;
    }
    const isHere = (choice.program_id ?? this._where.program_id) === this._where.program_id;
    if (isHere && this._all.ops.has(choice.op)) {
      this._reveal(choice.op);
    } else if (this._frame.isLive) {
      this._go({ op: choice.op, program: choice.program_id ?? '' });
    } else {
      this._frame.say(
        `${choice.op} is not among the ops saved here. ${liveHint(this._frame.host.snapshot.run.path)}`
      );
    }
  }

  get kept(): Summary {
    return {
      measure: this._measure,
      opened: [...this._open],
      way: this._history.map(({ op, program }) => ({ op, program }))
    };
  }

  adopt({ measure, opened, way }: Summary): void {
    this._measure = MEASURES.find((name) => name === measure) ?? this._measure;
    for (const name of texts(opened)) {
      this._open.add(name);
    }
    const stops = Array.isArray(way) ? way.map(record) : [];
    this._history.splice(
      0,
      Infinity,
      ...stops.map(({ op, program }) => ({ op: text(op), program: text(program) }))
    );
    this._toolbar.update(this._where, this._history.length > 0);
    this._redraw();
  }

  menu(): readonly MenuItem[] {
    return this._takeOut.menu();
  }

  keys(): readonly KeyBinding[] {
    return this._keys;
  }

  dispose(): void {
    this._stage.dispose();
    this._search.dispose();
  }

  private _redraw(): void {
    const scene = arrange(this._all, this._open, this._radius);
    this._stage.draw(scene, this._measure, this._where.center);
    this._toolbar.explain(this._measure, scene);
    this._tellPlace(scene.boxes.length, scene.leftOut);
    this._mark();
  }

  private _mark(): void {
    const shown = new Set(this._frame.grid?.shown ?? []);
    const isHere = (this._choice.program_id ?? this._where.program_id) === this._where.program_id;
    const chosen = isHere ? (this._choice.op ?? '') : '';
    this._stage.mark(chosen, ({ op }) => Number.isNaN(op.row) || shown.has(op.row));
    const op = this._all.ops.get(chosen || this._where.center);
    this._about.replaceChildren(
      ...(op === undefined
        ? []
        : [
            aboutOp(op, this._open.has(op.name), {
              center: (name) => this._center(name),
              fold: (name) => this._fold(name),
              elsewhere: (other, view) => this._frame.choose(this._choiceOf(other.name), view)
            })
          ])
    );
  }

  private _tellPlace(drawn: number, leftOut: number): void {
    const whole = this._answer?.summary.computation_op_count;
    this._place.replaceChildren(
      ...placeOf(
        this._where,
        { drawn, leftOut, whole: typeof whole === 'number' ? whole : Number.NaN },
        (op) => this._center(op)
      )
    );
  }

  private _choose(op: string): void {
    this._choice = this._choiceOf(op);
    this._frame.choose(this._choice);
  }

  private _choiceOf(op: string): Choice {
    return { op, program_id: this._where.program_id };
  }

  /** Show what is around an op, or all of a computation. */
  private _center(name: string): void {
    if (this._frame.isLive) {
      this._go({ op: name, program: this._where.program_id });
    } else {
      this._stage.reveal(name, true);
      this._stage.focus(name);
      if (!this._all.ops.has(name)) {
        this._frame.say(
          `${name} is not among the ops saved here. ${liveHint(this._frame.host.snapshot.run.path)}`
        );
      }
    }
  }

  private _go(stop: Stop): void {
    const { center, program_id } = this._where;
    if (stop.op !== center || stop.program !== program_id) {
      this._history.push({ op: center, program: program_id });
    }
    this._ask(stop);
  }

  private _back(): void {
    const stop = this._history.pop();
    if (stop !== undefined) {
      this._ask(stop);
    }
  }

  private _ask({ op, program }: Stop): void {
    this._frame.ask(op === '' ? 'Opening the program' : `Going to ${op}`, {
      op: op || null,
      program: program || null
    });
  }

  private _goToHit(hit: Hit): void {
    const isDrawn = this._all.ops.has(hit.op) && hit.program_id === this._where.program_id;
    this._choice = { op: hit.op, program_id: hit.program_id };
    if (isDrawn && !this._frame.isLive) {
      this._reveal(hit.op);
    } else {
      this._go({ op: hit.op, program: hit.program_id });
    }
    this._frame.choose(this._choice);
  }

  private _setRadius(radius: number): void {
    if (this._frame.isLive) {
      this._frame.ask(`Looking ${count(radius)} edges around`, {
        radius,
        op: this._where.center,
        program: this._where.program_id
      });
    } else {
      this._radius = radius;
      this._redraw();
      this._stage.begin(this._where.center);
    }
  }

  private _setMeasure(measure: Measure): void {
    this._measure = measure;
    this._redraw();
  }

  /** Bring an op into view, opening the fusion it is in. */
  private _reveal(op: string): void {
    const fusion = this._all.ops.get(op)?.inside ?? null;
    if (fusion !== null && !this._open.has(fusion)) {
      this._open.add(fusion);
      this._redraw();
    }
    this._stage.reveal(op);
  }

  private _fold(name: string): void {
    const op = this._all.ops.get(name);
    if (op === undefined) {
      return;
    }
    if (this._open.delete(name)) {
      this._show(name);
    } else if (this._isKnownInside(op)) {
      this._open.add(name);
      this._show(name);
    } else if (isFolded(op)) {
      this._load(op);
    } else if (leadsInside(op) && op.called[0] !== undefined) {
      this._center(op.called[0]);
    }
  }

  private _foldAll(): void {
    const known = [...this._all.ops.values()].filter((op) => this._isKnownInside(op)).map(({ name }) => name);
    const isAnyClosed = known.some((name) => !this._open.has(name));
    this._open.clear();
    if (isAnyClosed) {
      for (const name of known) {
        this._open.add(name);
      }
    }
    this._show(this._where.center);
  }

  private _isKnownInside({ name }: Op): boolean {
    return [...this._all.ops.values()].some(({ inside }) => inside === name);
  }

  private _show(name: string): void {
    this._redraw();
    this._stage.reveal(name);
  }

  /** What is fused into an op was left out of the answer: ask for its computation by itself. */
  private _load(op: Op): void {
    const [body] = op.called;
    if (!this._frame.isLive || body === undefined) {
      this._frame.say(
        `What is fused into ${op.name} was not saved. ${liveHint(this._frame.host.snapshot.run.path)}`
      );
      return;
    }
    const shown = this._answer;
    this._frame.run(`Looking into ${op.name}`, async (signal) => {
      const params = { op: body, program: this._where.program_id };
      const answer = await this._frame.host.request('graph', params, signal);
      if (shown === this._answer) {
        this._all = withBody(this._all, op.name, neighbourhoodOf(answer, ''));
        this._open.add(op.name);
        this._show(op.name);
      }
    });
  }
}
