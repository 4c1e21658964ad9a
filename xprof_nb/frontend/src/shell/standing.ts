/** How the view of an answer stands, as JSON: what was asked for, how its table and its parts are, what is chosen. */
import type { Params, Summary, ViewState } from '../host';
import { record } from '../payload';
import type { Grid } from '../table/grid';
import type { AnswerFrame, Part } from './answer';
import { narrowedParams } from './link';
import type { Stateful } from './state';

/** Parameters that all views of a run share: the link keeps them. */
const SHARED = ['host', 'device', 'step', 'window_ps'];

export interface StandingParts {
  readonly grid: Grid;
  readonly filter: HTMLInputElement;
  readonly parts: readonly Part[];
  /** Where the table is folded away. */
  readonly folded: HTMLDetailsElement | null;
}

export class AnswerStanding implements Stateful {
  /** What was asked for elsewhere and cannot be asked for here: kept for who can. */
  private _unmet: Params = {};

  constructor(
    private readonly _frame: AnswerFrame,
    private readonly _parts: StandingParts
  ) {}

  read(): ViewState {
    const { grid, parts, folded } = this._parts;
    return {
      shown: {
        table: grid.kept,
        params: { ...this._unmet, ...this._asked() },
        linked: this._frame.link.kept,
        ...(folded === null ? {} : { is_open: folded.open }),
        ...Object.assign({}, ...parts.map((part) => part.kept ?? {}))
      },
      made: {}
    };
  }

  write({ shown }: ViewState): void {
    const { grid, filter, parts, folded } = this._parts;
    const { link, host, isLive } = this._frame;
    link.adopt(shown.linked);
    grid.adopt(record(shown.table));
    filter.value = grid.filter;
    if (folded !== null) {
      folded.open = shown.is_open === true;
    }
    for (const part of parts) {
      part.adopt?.(shown);
    }
    const asked = record(shown.params);
    if (!isLive) {
      this._unmet = asked;
    } else if (Object.keys(asked).length > 0) {
      this._frame.ask('Going on where it was', {
        ...narrowedParams(host.snapshot.params, link.filters),
        ...asked
      });
    }
  }

  /** What was asked for besides what the snapshot is of. */
  private _asked(): Summary {
    const { params, host } = this._frame;
    const own = Object.entries(params).filter(
      ([name, value]) =>
        !SHARED.includes(name) && JSON.stringify(value) !== JSON.stringify(host.snapshot.params[name])
    );
    return Object.fromEntries(own);
  }
}
