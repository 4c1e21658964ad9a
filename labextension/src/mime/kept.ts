/** What a person makes of a view, kept with its output: the rest of the session all, in the notebook what they made. */
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { MIME, readState, record, text, type ViewState } from '@xprof-nb/views';

/** An output is drawn again, elsewhere too, while the page lives: a copy of it, or after it was out of sight. */
const STATES = new WeakMap<IRenderMime.IMimeModel, { readonly run: string; readonly state: ViewState }>();

export class KeptWithOutput {
  /** While it writes, the output says that it has changed; there is nothing new to draw. */
  isWriting = false;

  constructor(
    private readonly _model: IRenderMime.IMimeModel,
    /** Whether the output is part of a notebook, which can be saved. */
    private readonly _isInNotebook: boolean
  ) {}

  /** How the view stood last; null when nothing was done with it, nor kept with the notebook. */
  get state(): ViewState | null {
    const saved = readState(record(this._model.data[MIME]).state);
    return this._known ?? (isEmpty(saved.made) ? null : saved);
  }

  /** Whether something was done with it since the page was loaded. */
  get isOfSession(): boolean {
    return this._known !== null;
  }

  /** Keep it; returns in words where what a person made is kept. */
  write(state: ViewState): string {
    STATES.set(this._model, { run: this._run, state });
    const { state: before, ...payload } = record(this._model.data[MIME]);
    const { made } = state;
    if (JSON.stringify(readState(before).made) !== JSON.stringify(made)) {
      this.isWriting = true;
      const data = isEmpty(made) ? payload : { ...payload, state: { made } };
      this._model.setData({ data: { ...this._model.data, [MIME]: data as never } });
      this.isWriting = false;
    }
    return this._isInNotebook ? 'kept in this notebook: save it' : '';
  }

  private get _known(): ViewState | null {
    const known = STATES.get(this._model);
    return known?.run === this._run ? known.state : null;
  }

  private get _run(): string {
    return text(record(record(this._model.data[MIME]).run).identity);
  }
}

function isEmpty(part: object): boolean {
  return Object.keys(part).length === 0;
}
