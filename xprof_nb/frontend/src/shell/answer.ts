/** The frame of every view that is one answer: sentence, pictures, table; it asks again, follows and is followed. */
import type { Columns } from '../columns';
import { adoptStyle, h } from '../dom';
import { count } from '../format';
import type { Answer, Host, Mount, Mounted, Params, Summary } from '../host';
import { liveHint } from '../hosts/static';
import { dispatchKey, isTyping, type KeyBinding } from '../keys';
import { text } from '../payload';
import answerStyle from '../style/answer.css?inline';
import shellStyle from '../style/shell.css?inline';
import { columnChooser } from '../table/chooser';
import { type FieldOptions, fieldsOf } from '../table/fields';
import { Grid } from '../table/grid';
import gridStyle from '../table/style.css?inline';
import { followTheme } from '../theme';
import { answerMenu, GRID_KEYS, pythonOf } from './answer_menu';
import { isSame, opOf } from './choice';
import { header } from './header';
import { KeyHelp } from './key_help';
import { type Choice, type Filters, type Link, linkOf, narrowedParams } from './link';
import type { MenuItem } from './menu';
import { NarrowedBar } from './narrowed';
import { emptyBox, notesBox } from './notes';
import { copyText } from './save';
import { AnswerStanding } from './standing';
import { onHandled, StateTeller } from './state';
import { Tasks } from './tasks';

const MOST_ROWS = 100_000;
const FILTER_HELP =
  'Words that a row must have. op:conv looks in one column; self_time>1ms and share>=5% compare numbers.';

/** A part of a view above its table: a chart, tiles, a tree. */
export interface Part {
  readonly node: HTMLElement;
  /** It is in the page now. */
  start?(): void;
  /** The answer changed, or which of its rows are shown. */
  update?(): void;
  /** Another view chose something. */
  follow?(choice: Choice): void;
  /** What the menu offers of it. */
  menu?(): readonly MenuItem[];
  /** What keys do in it, for the list of keys. */
  keys?(): readonly KeyBinding[];
  /** Take one step back in it; returns whether there was one. */
  back?(): boolean;
  /** How it stands, as JSON, under names that no other part of the view has. */
  readonly kept?: Summary;
  /** Go on from what the parts of such a view have kept. */
  adopt?(kept: Summary): void;
  dispose?(): void;
}

/** What stands in place of the plain table, whose filter it follows. */
export interface TablePart extends Part {
  focus(): void;
}

/** How a question is shown. */
export interface AnswerSpec {
  /** The question, with spaces: `input pipeline`. */
  readonly label: string;
  /** Style sheets of its own. */
  readonly styles?: readonly string[];
  /** The columns of its table; all when left out. */
  readonly columns?: readonly (string | FieldOptions)[];
  /** What the table is called where the parts say most of it: it stays folded until somebody opens it. */
  readonly folded?: string;
  /** What stands above the table. */
  parts?(frame: AnswerFrame): readonly Part[];
  /** Its own table; a plain one when left out. */
  table?(frame: AnswerFrame): TablePart;
  /** Switches beside the filter. */
  tools?(frame: AnswerFrame): readonly HTMLElement[];
  /** What choosing a row of the table chooses in all views; an op by default. */
  choiceOf?(table: Columns, row: number): Choice;
}

/** Draws a view as a spec says. */
export function answerView(spec: AnswerSpec): Mount {
  return (host, el) => {
    for (const sheet of [shellStyle, answerStyle, gridStyle, ...(spec.styles ?? [])]) {
      adoptStyle(el, sheet);
    }
    const frame = new AnswerFrame(host, spec);
    el.append(frame.node);
    frame.start();
    return frame;
  };
}

export class AnswerFrame implements Mounted {
  readonly node: HTMLElement;
  readonly grid: Grid;
  readonly link: Link;
  answer: Answer;
  private readonly _parts: readonly Part[];
  private readonly _table: TablePart | null;
  private readonly _stops: (() => void)[] = [];
  private readonly _sentence = h('p', { class: 'jp-XprofAnswer-sentence' });
  private readonly _notes = h('div', {});
  private readonly _narrowed = new NarrowedBar(() => this.narrow({}));
  private readonly _empty = h('div', {});
  private readonly _counted = h('span', { class: 'jp-XprofAnswer-counted', attrs: { role: 'status' } });
  private readonly _tasks = new Tasks();
  private readonly _filter: HTMLInputElement;
  private readonly _help: KeyHelp;
  private readonly _bindings: readonly KeyBinding[];
  private _params: Params;
  private _filters: Filters = {};
  private _total: number;
  private readonly _teller: StateTeller;

  constructor(
    readonly host: Host,
    private readonly _spec: AnswerSpec
  ) {
    const { snapshot } = host;
    this.link = linkOf(snapshot.run);
    this.answer = snapshot;
    this._params = snapshot.params;
    this._total = snapshot.rowsTotal ?? snapshot.table.rows;
    this.grid = new Grid(snapshot.title || _spec.label, {
      choose: (row) => this._choose(row),
      changed: () => this._shownChanged(),
      copy: (text) => this.copy(text)
    });
    this._filter = h('input', {
      class: 'jp-XprofAnswer-filter',
      title: FILTER_HELP,
      attrs: { type: 'search', placeholder: 'filter', 'aria-label': 'Filter rows' },
      on: {
        input: () => {
          this.grid.filter = this._filter.value;
        }
      }
    });
    this._help = new KeyHelp(() => this._focusTable());
    this._table = _spec.table?.(this) ?? null;
    this._bindings = this._keys();
    this._parts = [...(_spec.parts?.(this) ?? []), ...(this._table === null ? [] : [this._table])];
    const folded = _spec.folded === undefined ? null : h('details', { class: 'jp-XprofAnswer-folded' });
    this.node = this._compose(folded);
    const { grid, _filter: filter, _parts: parts } = this;
    this._teller = new StateTeller(this.node, new AnswerStanding(this, { grid, filter, parts, folded }));
    this._refresh();
  }

  get isLive(): boolean {
    return this.host.kind !== 'static';
  }

  /** The parameters of the question that is shown. */
  get params(): Params {
    return this._params;
  }

  /** Begin, now that it is in the page. */
  start(): void {
    this._stops.push(
      followTheme(this.node),
      this.link.subscribe(this, ({ choice, filters }) => this._follow(choice, filters))
    );
    for (const part of this._parts) {
      part.start?.();
    }
    this._follow(this.link.choice, this.link.filters);
    this._loadRest();
  }

  dispose(): void {
    this._teller.dispose();
    this._tasks.cancel();
    for (const part of this._parts) {
      part.dispose?.();
    }
    for (const stop of this._stops) {
      stop();
    }
    this.grid.dispose();
    this.node.remove();
  }

  /** Choose something in all views of the run; `view` asks to see it there. */
  choose(choice: Choice, view?: string): void {
    this.link.choose(choice, this, view);
    this._mark(choice, false);
  }

  /** Narrow all views of the run. */
  narrow(filters: Filters): void {
    this.link.narrow(filters, this);
    this._follow(this.link.choice, filters);
  }

  /** Ask the same question with other parameters and show the answer. */
  ask(what: string, params: Params): void {
    if (!this.isLive) {
      this.say(`This is a saved snapshot. ${liveHint(this.host.snapshot.run.path)}`);
      return;
    }
    this.run(what, async (signal) => {
      const asked = { ...this._params, ...params };
      const answer = await this.host.request(this.host.snapshot.view, asked, signal);
      this._params = asked;
      this._take(answer);
    });
  }

  /** Do one thing that takes time; a newer one replaces it. */
  run(what: string, work: (signal: AbortSignal) => Promise<void>): void {
    this._tasks.run(what, work);
  }

  say(words: string): void {
    this._tasks.say(words);
  }

  fail(error: unknown, retry?: () => void): void {
    this._tasks.fail(error, retry);
  }

  private _take(answer: Answer): void {
    this.answer = answer;
    this._total = answer.table.rows;
    this._refresh();
    this._mark(this.link.choice, false);
    this._teller.changed();
  }

  /** A snapshot holds the first rows; who can ask gets all of them. */
  private _loadRest(): void {
    if (
      this.isLive &&
      !this._tasks.isBusy &&
      this.answer.table.rows < this._total &&
      this._total <= MOST_ROWS
    ) {
      this.ask(`Loading ${count(this._total)} rows`, {});
    }
  }

  private _refresh(): void {
    const { table, summary, notes } = this.answer;
    const sentence = text(summary.sentence);
    this._sentence.textContent = sentence;
    this._sentence.hidden = sentence === '';
    this._notes.replaceChildren(...[notesBox(notes)].filter((box) => box !== null));
    const isEmpty = table.rows === 0;
    this._empty.replaceChildren(...(isEmpty ? [emptyBox(notes)] : []));
    this.grid.node.hidden = isEmpty;
    this.grid.update(table.rows, fieldsOf(table, this._spec.columns));
    for (const part of this._parts) {
      part.node.hidden = isEmpty;
    }
  }

  private _shownChanged(): void {
    const shown = count(this.grid.shown.length);
    this._counted.textContent = `${shown} of ${count(this._total)} rows shown`;
    for (const part of this._parts ?? []) {
      part.update?.();
    }
  }

  private _choose(row: number): void {
    const choice = (this._spec.choiceOf ?? opOf)(this.answer.table, row);
    this.grid.mark([row]);
    if (Object.keys(choice).length > 0) {
      this.link.choose(choice, this);
      for (const part of this._parts) {
        part.follow?.(choice);
      }
    }
  }

  private _follow(choice: Choice, filters: Filters): void {
    this._teller.changed();
    this._mark(choice, true);
    if (JSON.stringify(filters) !== JSON.stringify(this._filters)) {
      this._filters = filters;
      this._narrowed.update(filters);
      this.ask('Narrowing', narrowedParams(this.host.snapshot.params, filters));
    }
  }

  private _mark(choice: Choice, isRevealed: boolean): void {
    const { table } = this.answer;
    const choiceOf = this._spec.choiceOf ?? opOf;
    const isChosen = (row: number) => isSame(choiceOf(table, row), choice);
    const rows = Object.keys(choice).length === 0 ? [] : this.grid.shown.filter(isChosen);
    this.grid.mark(rows, isRevealed);
    for (const part of this._parts) {
      part.follow?.(choice);
    }
  }

  private _compose(folded: HTMLElement | null): HTMLElement {
    const { snapshot } = this.host;
    const root = h(
      'section',
      {
        class: `jp-XprofView jp-XprofAnswer jp-mod-${this._spec.label.replaceAll(' ', '-')}`,
        attrs: { 'aria-label': snapshot.title || this._spec.label, 'data-lm-suppress-shortcuts': 'true' }
      },
      header(this.host, this._menu()),
      this._sentence,
      this._notes,
      this._narrowed.node,
      ...this._parts.filter((part) => part !== this._table).map((part) => part.node),
      ...this._composeTable(folded),
      this._empty,
      this._tasks.node,
      this._help.node
    );
    onHandled(root, () => this._teller.changed());
    root.addEventListener('keydown', (event) => {
      const anywhere = ['/', '?', 'Escape'].includes(event.key);
      if (anywhere && (!isTyping(event) || event.key === 'Escape')) {
        dispatchKey(event, this._bindings);
      }
      event.stopPropagation();
    });
    return root;
  }

  private _composeTable(folded: HTMLElement | null): readonly Node[] {
    const bar = h(
      'div',
      { class: 'jp-XprofAnswer-bar' },
      ...(this._spec.tools?.(this) ?? []),
      this._filter,
      this._counted,
      this._table === null ? columnChooser(this.grid) : null
    );
    const table = (this._table ?? this.grid).node;
    folded?.append(h('summary', {}, this._spec.folded ?? ''), bar, table);
    return [folded ?? bar, ...(folded === null ? [table] : [])];
  }

  private _menu(): MenuItem[] {
    const { run, view } = this.host.snapshot;
    return [
      ...this._parts.flatMap((part) => part.menu?.() ?? []),
      ...answerMenu({
        run,
        label: this._spec.label,
        grid: this.grid,
        copy: (copied) => this.copy(copied),
        python: () => pythonOf(run, view, this._params),
        help: () => this._showKeys()
      })
    ];
  }

  /** Put a text into the clipboard, and say so. */
  copy(copied: string): void {
    copyText(copied).then(
      () => this.say('Copied.'),
      (error: unknown) => this.fail(error)
    );
  }

  private _focusTable(): void {
    (this._table ?? this.grid).focus();
  }

  private _keys(): KeyBinding[] {
    return [
      ...(this._table === null ? GRID_KEYS : []),
      { keys: ['/'], label: '/', what: 'filter', run: () => this._filter.focus() },
      { keys: ['Escape'], label: 'Esc', what: 'step back', run: () => this._back() },
      {
        keys: ['?'],
        label: '?',
        what: 'this list',
        run: () => this._showKeys()
      }
    ];
  }

  private _showKeys(): void {
    const ofParts = this._parts.flatMap((part) => part.keys?.() ?? []);
    this._help.toggle([...ofParts, ...this._bindings], this.grid.node);
  }

  private _back(): void {
    if (this._help.isOpen) {
      this._help.close();
    } else if (this._tasks.isBusy) {
      this._tasks.cancel();
    } else if (this._filter.value !== '') {
      this._filter.value = '';
      this.grid.filter = '';
      this._focusTable();
    } else if (!this._parts.some((part) => part.back?.()) && Object.keys(this.link.choice).length > 0) {
      this.choose({});
    }
  }
}
