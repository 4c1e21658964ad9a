/** The list of runs on screen: a listbox with one group a log dir. */
import type { TranslationBundle } from '@jupyterlab/translation';
import type { RunEntry } from '../api';
import { element } from '../dom';
import { ago, exactly, facts } from './facts';
import type { RunGroup } from './model';

const REFRESH_AGES_MS = 30_000;

export class RunList {
  readonly node = element('div', 'jp-XprofRuns');
  private _runs: RunEntry[] = [];
  private _active = 0;
  private readonly _ages: ReturnType<typeof setInterval>;

  constructor(
    private readonly _trans: TranslationBundle,
    private readonly _open: (run: RunEntry) => void
  ) {
    this.node.tabIndex = 0;
    this.node.setAttribute('role', 'listbox');
    this.node.setAttribute('aria-label', _trans.__('Profiled runs'));
    this.node.addEventListener('keydown', (event) => this._key(event));
    this.node.addEventListener('click', (event) => this._click(event));
    this.node.addEventListener('dblclick', () => this._openActive());
    this.node.addEventListener('contextmenu', (event) => this._click(event));
    this._ages = setInterval(() => this._updateAges(), REFRESH_AGES_MS);
  }

  dispose(): void {
    clearInterval(this._ages);
  }

  show(groups: readonly RunGroup[]): void {
    const kept = this._runs[this._active]?.path;
    this._runs = groups.flatMap((group) => group.runs);
    this._active = Math.max(
      0,
      this._runs.findIndex((run) => run.path === kept)
    );
    let index = 0;
    this.node.replaceChildren(
      ...groups.map((group) => {
        const box = element('div', 'jp-XprofRuns-group');
        box.setAttribute('role', 'group');
        box.setAttribute('aria-label', group.logdir);
        const title = element('div', 'jp-XprofRuns-logdir', element('bdi', '', group.logdir));
        title.title = group.logdir;
        title.setAttribute('aria-hidden', 'true');
        box.append(title, ...group.runs.map((run) => this._row(run, index++)));
        return box;
      })
    );
    this._markActive();
  }

  private _row(run: RunEntry, index: number): HTMLElement {
    const row = element(
      'div',
      'jp-XprofRuns-run',
      element('div', 'jp-XprofRuns-name', run.run),
      element('div', 'jp-XprofRuns-when', run.started ? ago(run.started, new Date(), this._trans) : ''),
      element('div', 'jp-XprofRuns-facts', facts(run, this._trans))
    );
    if (run.note) {
      row.append(element('div', 'jp-XprofRuns-note', run.note));
    }
    row.id = `xprof-nb-run-${index}`;
    row.title = exactly(run);
    row.dataset.index = String(index);
    row.dataset.path = run.path;
    row.setAttribute('role', 'option');
    return row;
  }

  private _rows(): HTMLElement[] {
    return [...this.node.querySelectorAll<HTMLElement>('[role=option]')];
  }

  private _markActive(): void {
    this._rows().forEach((row, index) => {
      row.setAttribute('aria-selected', String(index === this._active));
    });
    if (this._runs.length > 0) {
      this.node.setAttribute('aria-activedescendant', `xprof-nb-run-${this._active}`);
    } else {
      this.node.removeAttribute('aria-activedescendant');
    }
  }

  private _moveTo(index: number): void {
    this._active = Math.max(0, Math.min(index, this._runs.length - 1));
    this._markActive();
    this._rows()[this._active]?.scrollIntoView({ block: 'nearest' });
  }

  private _openActive(): void {
    const run = this._runs[this._active];
    if (run !== undefined) {
      this._open(run);
    }
  }

  private _click(event: Event): void {
    const row = (event.target as Element).closest<HTMLElement>('[role=option]');
    if (row !== null) {
      this._moveTo(Number(row.dataset.index));
    }
  }

  private _key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    const targets: Record<string, number> = {
      ArrowDown: this._active + 1,
      ArrowUp: this._active - 1,
      Home: 0,
      End: this._runs.length - 1
    };
    const target =
      targets[event.key] ??
      (event.key.length === 1 && event.key !== ' ' ? this._typed(event.key) : undefined);
    if (target !== undefined) {
      this._moveTo(target);
    } else if (event.key === 'Enter') {
      this._openActive();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  /** The next run whose name begins with a letter. */
  private _typed(letter: string): number | undefined {
    const count = this._runs.length;
    for (let step = 1; step <= count; step++) {
      const index = (this._active + step) % count;
      if (this._runs[index]?.run.toLowerCase().startsWith(letter.toLowerCase())) {
        return index;
      }
    }
    return undefined;
  }

  private _updateAges(): void {
    for (const row of this._rows()) {
      const started = this._runs[Number(row.dataset.index)]?.started;
      const when = row.querySelector('.jp-XprofRuns-when');
      if (started && when !== null) {
        when.textContent = ago(started, new Date(), this._trans);
      }
    }
  }
}
