/** How an op profile stands, as JSON: grouping, order, filter, open rows, and what is chosen. */
import type { Summary, ViewState } from '../host';
import { text, texts } from '../payload';
import type { Link } from '../shell/link';
import type { Stateful } from '../shell/state';
import type { Tasks } from '../shell/tasks';
import type { Sort } from '../tree/rows';
import { keptTree, sortFrom } from '../tree/standing';
import type { Session } from './session';
import { GROUPINGS } from './toolbar';

/** What a person sees of the rows. */
export interface Looks {
  sort: Sort;
  filter: string;
  /** The key of the outlined row. */
  selected: string | null;
  hasDetails: boolean;
}

export interface StandingNeeds {
  readonly session: Session;
  readonly tasks: Tasks;
  readonly link: Link;
  looks(): Looks;
  /** Show the rows that are there now so. */
  look(looks: Looks): void;
  /** Show that the session has other rows. */
  renew(signal: AbortSignal): Promise<void>;
}

export class ProfileStanding implements Stateful {
  /** What only a grouping that cannot be asked for here could show: kept for who can. */
  private _unmet: Summary = {};

  constructor(private readonly _needs: StandingNeeds) {}

  read(): ViewState {
    const { session, link } = this._needs;
    const { sort, filter, selected, hasDetails } = this._needs.looks();
    const { by, expanded } = session.current;
    const shown = { by, ...keptTree(sort, expanded), filter, selected, has_details: hasDetails };
    return { shown: { ...shown, linked: link.kept, ...this._unmet }, made: {} };
  }

  write({ shown }: ViewState): void {
    const { session, tasks, link } = this._needs;
    const before = link.filters;
    link.adopt(shown.linked);
    const by = GROUPINGS.find((name) => name === text(shown.by)) ?? session.current.by;
    if (!session.isLive) {
      const isMet = by === session.current.by;
      this._unmet = isMet ? {} : { by, expanded: texts(shown.expanded) };
      this._look(shown, isMet);
      return;
    }
    this._look(shown, by === session.current.by);
    tasks.run('Going on where it was', async (signal) => {
      if (link.filters !== before) {
        await session.narrow(link.filters, signal);
      }
      await session.group(by, signal);
      await this._needs.renew(signal);
      this._look(shown, true);
      await this._load(text(shown.filter), signal);
      this._look(shown, true);
    });
  }

  private _look(shown: Summary, isGrouped: boolean): void {
    const { session, link, looks, look } = this._needs;
    const now = looks();
    if (isGrouped && Array.isArray(shown.expanded)) {
      session.current.expanded = new Set(texts(shown.expanded));
    }
    const chosen = session.current.tree.chosen(link.choice)?.key;
    const kept = session.current.tree.get(text(shown.selected))?.key;
    look({
      sort: sortFrom(shown.sort) ?? now.sort,
      filter: text(shown.filter),
      selected: chosen ?? kept ?? null,
      hasDetails: shown.has_details === true
    });
  }

  /** Load what a filter finds, the chosen op, and the rows below open ones that have none yet. */
  private async _load(filter: string, signal: AbortSignal): Promise<void> {
    const { session, link } = this._needs;
    await session.search(filter, signal);
    if (session.current.tree.chosen(link.choice) === undefined) {
      await session.search(link.choice.op ?? '', signal);
    }
    const { tree, expanded } = session.current;
    for (const key of expanded) {
      const node = tree.get(key);
      if (node !== undefined && node.children.length === 0 && node.childrenTotal > 0) {
        await session.loadChildren(node, signal);
      }
    }
  }
}
