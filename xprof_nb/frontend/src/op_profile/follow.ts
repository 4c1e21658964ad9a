/** The op profile among the other views of its run: follows what they choose and narrow, and leads to them. */
import { type Change, type Choice, type Filters, type Link, linkOf } from '../shell/link';
import { NarrowedBar } from '../shell/narrowed';
import type { Tasks } from '../shell/tasks';
import { choiceOf, type OpNode } from '../tree/tree';
import type { Session } from './session';

export interface FollowActions {
  /** Open the way to a row and outline it. */
  reveal(node: OpNode): void;
  /** Nothing is chosen any more. */
  clear(): void;
  /** The session has another part of the run. */
  replaced(signal: AbortSignal): Promise<void>;
  /** Rows came. */
  grown(signal: AbortSignal): Promise<void>;
}

export class Follower {
  readonly bar = new NarrowedBar(() => this._narrow({}));
  private readonly _link: Link;
  private _filters: Filters = {};

  constructor(
    private readonly _session: Session,
    private readonly _tasks: Tasks,
    private readonly _actions: FollowActions
  ) {
    this._link = linkOf(_session.run);
  }

  /** Begin to follow; returns how to stop. */
  start(): () => void {
    this._heard(this._link);
    return this._link.subscribe(this, (change) => this._heard(change));
  }

  /** Choose the op of a row in all views; nothing for a row that only groups. */
  choose(node: OpNode | null): void {
    this._link.choose(node === null ? {} : choiceOf(node), this);
  }

  /** Show an op in another view. */
  open(view: string, node: OpNode): void {
    this._link.choose(choiceOf(node), this, view);
    if (document.querySelector('.jp-XprofExplore') === null) {
      this._tasks.say(
        'Chosen in all views of this run on this page. profile.explore() shows every view beside the others.'
      );
    }
  }

  /** Outline what is chosen now. */
  catchUp(): void {
    this._follow(this._link.choice);
  }

  private _heard({ choice, filters }: Pick<Change, 'choice' | 'filters'>): void {
    if (JSON.stringify(filters) === JSON.stringify(this._filters)) {
      this._follow(choice);
    } else {
      this._narrow(filters);
    }
  }

  private _follow(choice: Choice): void {
    const node = this._session.current.tree.chosen(choice);
    const { op } = choice;
    if (node !== undefined) {
      this._actions.reveal(node);
    } else if (op !== undefined && this._session.isLive && this._session.isPruned) {
      this._tasks.run(`Looking for ${op}`, async (signal) => {
        if ((await this._session.search(op, signal)) > 0) {
          this._follow(choice);
          await this._actions.grown(signal);
        }
      });
    } else {
      this._actions.clear();
    }
  }

  private _narrow(filters: Filters): void {
    this._filters = filters;
    if (this._link.filters !== filters) {
      this._link.narrow(filters, this);
    }
    if (!this._session.isLive) {
      this._tasks.say(this._session.whyNotLive);
      return;
    }
    this.bar.update(filters);
    this._tasks.run('Narrowing', async (signal) => {
      await this._session.narrow(filters, signal);
      await this._actions.replaced(signal);
    });
  }
}
