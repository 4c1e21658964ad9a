/**
 * What is chosen in a run, and what the run is narrowed to: shared by all its views in a page.
 *
 * Views are separate modules, each with its own copy of this file, so what they share lives in one place of the page.
 */
import type { Params, Run, Summary } from '../host';
import { number, record, text } from '../payload';

/** What was chosen; views outline it. */
export interface Choice {
  readonly op?: string;
  /** In decimal: a JavaScript number loses its last digits. */
  readonly program_id?: string;
  /** Of an op, or instead of one: of all that it became. */
  readonly framework_op?: string;
  readonly step?: number;
}

/** What all views are narrowed to: parameters that every question takes. */
export interface Filters {
  readonly host?: string;
  readonly device?: string;
  readonly step?: number;
  readonly window_ps?: readonly [number, number];
}

export interface Change {
  readonly choice: Choice;
  readonly filters: Filters;
  /** The view to show the choice in, when somebody asked for one. */
  readonly view?: string;
}

type Listener = (change: Change) => void;

const PLACE = Symbol.for('xprof-nb.links.v1');

/** The choices of one run. */
export class Link {
  choice: Choice = {};
  filters: Filters = {};
  private readonly _listeners = new Map<object, Listener>();
  private _isUntouched = true;

  /** Choose something; `source` is the view that does, which need not follow itself. */
  choose(choice: Choice, source: object, view?: string): void {
    this.choice = choice;
    this._tell(source, view);
  }

  /** Narrow every view of the run, or widen it again. */
  narrow(filters: Filters, source: object): void {
    this.filters = filters;
    this._tell(source);
  }

  /** Be told of what other views choose; returns how to stop. */
  subscribe(source: object, listener: Listener): () => void {
    this._listeners.set(source, listener);
    return () => this._listeners.delete(source);
  }

  /** What a view keeps of it. */
  get kept(): Summary {
    return { choice: { ...this.choice }, filters: paramsOf(this.filters) };
  }

  /** Go on from what a view has kept, unless somebody has chosen or narrowed in this page. */
  adopt(kept: unknown): void {
    const { choice, filters } = record(kept);
    if (this._isUntouched && [choice, filters].some((part) => Object.keys(record(part)).length > 0)) {
      this.choice = choiceFrom(record(choice));
      this.filters = filtersFrom(record(filters));
      this._tell(this);
    }
  }

  private _tell(source: object, view?: string): void {
    this._isUntouched = false;
    const change = { choice: this.choice, filters: this.filters, ...(view === undefined ? {} : { view }) };
    for (const [listening, listener] of [...this._listeners]) {
      if (listening !== source) {
        listener(change);
      }
    }
  }
}

/** The link of a run in this page. */
export function linkOf({ identity, path }: Run): Link {
  const page = globalThis as { [PLACE]?: Map<string, Link> };
  page[PLACE] ??= new Map();
  const key = identity || path;
  const known = page[PLACE].get(key) ?? new Link();
  page[PLACE].set(key, known);
  return known;
}

function choiceFrom({ op, program_id, framework_op, step }: Summary): Choice {
  return {
    ...(text(op) === '' ? {} : { op: text(op) }),
    ...(text(program_id) === '' ? {} : { program_id: text(program_id) }),
    ...(text(framework_op) === '' ? {} : { framework_op: text(framework_op) }),
    ...(Number.isInteger(step) ? { step: number(step) } : {})
  };
}

function filtersFrom({ host, device, step, window_ps }: Summary): Filters {
  const [start, end] = Array.isArray(window_ps) ? window_ps.map(number) : [];
  return {
    ...(text(host) === '' ? {} : { host: text(host) }),
    ...(text(device) === '' ? {} : { device: text(device) }),
    ...(Number.isInteger(step) ? { step: number(step) } : {}),
    ...(start !== undefined && end !== undefined && end > start ? { window_ps: [start, end] } : {})
  };
}

/** Filters as parameters of a question. */
export function paramsOf({ window_ps, ...rest }: Filters): Params {
  return { ...rest, ...(window_ps === undefined ? {} : { window_ps: [...window_ps] }) };
}

/** `step 7, TPU:0`: what a run is narrowed to, in words. */
export function described({ host, device, step, window_ps }: Filters, time: (ps: number) => string): string {
  return [
    step === undefined ? '' : `step ${step}`,
    window_ps === undefined ? '' : `${time(window_ps[1] - window_ps[0])} from ${time(window_ps[0])}`,
    host ?? '',
    device ?? ''
  ]
    .filter(Boolean)
    .join(', ');
}

/** The parameters of a question about what a run is narrowed to, where a view was opened with some of its own. */
export function narrowedParams(opened: Params, filters: Filters): Params {
  const given = Object.entries(opened).filter(([, value]) => value !== null && value !== undefined);
  return {
    host: null,
    device: null,
    step: null,
    window_ps: null,
    ...Object.fromEntries(given),
    ...paramsOf(filters)
  };
}
