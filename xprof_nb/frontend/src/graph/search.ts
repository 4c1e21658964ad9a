/** The search of the graph: type a part of a name, an opcode or a shape, choose among the ops of the whole program. */
import { h } from '../dom';
import { count, time } from '../format';
import { asHostError, isAbort } from '../host';

export interface Hit {
  readonly op: string;
  readonly program_id: string;
  readonly opcode: string;
  readonly shape: string;
  readonly self_time_ps: number;
}

export interface Found {
  readonly hits: readonly Hit[];
  readonly total: number;
  /** Of what: `348 ops`. */
  readonly among: string;
}

export type Find = (text: string, signal: AbortSignal) => Promise<Found>;

const AFTER_MS = 200;
let lists = 0;

export class GraphSearch {
  readonly node: HTMLElement;
  private readonly _id = `xprof-hits-${lists++}`;
  private readonly _input: HTMLInputElement;
  private readonly _list = h('div', {
    class: 'jp-XprofGraph-hits',
    attrs: { role: 'listbox', 'aria-label': 'Ops found', id: this._id }
  });
  private readonly _counted = h('div', { class: 'jp-XprofGraph-counted', attrs: { role: 'status' } });
  private readonly _drop = h(
    'div',
    { class: 'jp-XprofGraph-drop', attrs: { hidden: '' } },
    this._list,
    this._counted
  );
  private _hits: readonly Hit[] = [];
  private _at = 0;
  private _timer = 0;
  private _task: AbortController | null = null;

  constructor(
    private readonly _find: Find,
    private readonly _go: (hit: Hit) => void
  ) {
    this._input = h('input', {
      class: 'jp-XprofView-input jp-XprofGraph-search',
      title: 'Parts of a name, an opcode, a shape or a framework op; every word has to be there',
      attrs: {
        type: 'search',
        placeholder: 'find op, opcode, shape',
        role: 'combobox',
        'aria-label': 'Find ops in the program',
        'aria-expanded': 'false',
        'aria-controls': this._id,
        'aria-autocomplete': 'list',
        autocomplete: 'off',
        spellcheck: false
      },
      on: {
        input: () => this._typed(),
        keydown: (event) => this._keyPressed(event as KeyboardEvent),
        focusout: () => this._close()
      }
    });
    this.node = h('span', { class: 'jp-XprofGraph-find' }, this._input, this._drop);
    // A press on a hit must not take the focus from the box first, which closes the list.
    this._drop.addEventListener('pointerdown', (event) => event.preventDefault());
  }

  dispose(): void {
    clearTimeout(this._timer);
    this._task?.abort();
  }

  private _typed(): void {
    clearTimeout(this._timer);
    this._task?.abort();
    if (this._input.value.trim() === '') {
      this._close();
      return;
    }
    this._timer = window.setTimeout(() => void this._look(), AFTER_MS);
  }

  private async _look(): Promise<void> {
    const task = new AbortController();
    this._task = task;
    try {
      const found = await this._find(this._input.value.trim(), task.signal);
      if (!task.signal.aborted) {
        this._show(found);
      }
    } catch (error) {
      if (!isAbort(error) && !task.signal.aborted) {
        const { message, hint } = asHostError(error);
        this._hits = [];
        this._list.replaceChildren();
        this._open(`${message} ${hint}`);
      }
    }
  }

  private _show({ hits, total, among }: Found): void {
    this._hits = hits;
    this._list.replaceChildren(...hits.map((hit, number) => this._option(hit, number)));
    const listed =
      hits.length < total ? `${count(hits.length)} of ${count(total)} shown` : `${count(total)} found`;
    this._open(`${total === 0 ? 'None' : listed}, among ${among}`);
    this._mark(0);
  }

  private _option(hit: Hit, number: number): HTMLElement {
    return h(
      'div',
      {
        class: 'jp-XprofGraph-hit',
        title: `${hit.op}\n${hit.opcode} ${hit.shape}`,
        attrs: { role: 'option', id: `${this._id}-${number}`, 'aria-selected': false },
        on: { click: () => this._take(number) }
      },
      h('span', { class: 'jp-XprofGraph-hitName' }, hit.op),
      h('span', { class: 'jp-XprofGraph-hitShape' }, `${hit.opcode} ${hit.shape}`),
      h('span', {}, Number.isNaN(hit.self_time_ps) ? '' : time(hit.self_time_ps))
    );
  }

  private _keyPressed(event: KeyboardEvent): void {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by !== undefined && this._hits.length > 0) {
      event.preventDefault();
      this._mark((this._at + by + this._hits.length) % this._hits.length);
    } else if (event.key === 'Enter') {
      event.preventDefault();
      this._take(this._at);
    } else if (event.key === 'Escape' && this._input.value !== '') {
      event.stopPropagation();
      this._input.value = '';
      this._close();
    }
  }

  private _mark(number: number): void {
    this._at = number;
    [...this._list.children].forEach((option, place) => {
      option.setAttribute('aria-selected', String(place === number));
      if (place === number) {
        option.scrollIntoView?.({ block: 'nearest' });
      }
    });
    if (this._hits.length > 0) {
      this._input.setAttribute('aria-activedescendant', `${this._id}-${number}`);
    }
  }

  private _take(number: number): void {
    const hit = this._hits[number];
    if (hit !== undefined && !this._drop.hidden) {
      this._close();
      this._go(hit);
    }
  }

  private _open(words: string): void {
    this._counted.textContent = words;
    this._drop.hidden = false;
    this._input.setAttribute('aria-expanded', 'true');
  }

  private _close(): void {
    this._task?.abort();
    this._drop.hidden = true;
    this._input.setAttribute('aria-expanded', 'false');
    this._input.removeAttribute('aria-activedescendant');
  }
}
