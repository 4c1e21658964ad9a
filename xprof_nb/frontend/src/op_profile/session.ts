/** What the view knows: the tree of each grouping, and how to learn more from the host. */
import { decodeBase64 } from '../columns';
import type { Answer, Host, Params, Run, Summary } from '../host';
import { liveHint } from '../hosts/static';
import { number, text } from '../payload';
import { type Filters, narrowedParams } from '../shell/link';
import { firstExpanded, searchTerms } from '../tree/rows';
import { type OpNode, OpTree } from '../tree/tree';
import { GROUPINGS, type Grouping } from './toolbar';

/** Rows of a pruned tree, as many as a snapshot holds. */
const ROWS = 300;
const MOST_ROWS = 5000;

/** One grouping of the profile, with what is open in it. */
export interface Grouped {
  readonly by: Grouping;
  readonly tree: OpTree;
  readonly summary: Summary;
  readonly notes: readonly string[];
  expanded: Set<string>;
  /** Whether its rows know how they spread, also those not loaded yet. */
  isSpread: boolean;
}

export class Session {
  current: Grouped;
  private readonly _groupings = new Map<Grouping, Grouped>();
  private readonly _searched = new Set<string>();

  private _given: Params;

  constructor(private readonly _host: Host) {
    const { table, summary, notes, params, extra } = _host.snapshot;
    this._given = params;
    const by = text(summary.by) || text(params.by);
    this.current = grouped(GROUPINGS.find((name) => name === by) ?? 'program', { table, summary, notes });
    this._groupings.set(this.current.by, this.current);
    const spread = text(extra.spread);
    if (spread !== '') {
      this.current.tree.spread(decodeBase64(spread));
    }
  }

  get run(): Run {
    return this._host.snapshot.run;
  }

  get isLive(): boolean {
    return this._host.kind !== 'static';
  }

  /** Why nothing can be asked; empty when it can. */
  get whyNotLive(): string {
    return this.isLive ? '' : `This is a saved snapshot. ${liveHint(this._host.snapshot.run.path)}`;
  }

  /** Group by something else. */
  async group(by: Grouping, signal: AbortSignal): Promise<void> {
    let found = this._groupings.get(by);
    if (found === undefined) {
      found = grouped(by, await this._host.request('op_profile', this._params({ by, limit: ROWS }), signal));
      this._groupings.set(by, found);
    }
    this.current = found;
  }

  /** Ask for the same grouping of another part of the run. */
  async narrow(filters: Filters, signal: AbortSignal): Promise<void> {
    const { by } = this.current;
    this._given = narrowedParams(this._host.snapshot.params, filters);
    const answer = await this._host.request('op_profile', this._params({ by, limit: ROWS }), signal);
    this._groupings.clear();
    this._searched.clear();
    this.current = grouped(by, answer);
    this._groupings.set(by, this.current);
  }

  /** Learn how rows spread over devices and steps, once a grouping; xprof has no such numbers. */
  async spread(signal: AbortSignal): Promise<void> {
    const { current } = this;
    if (!current.isSpread && this._given.compat === undefined) {
      const asked = this._params({ by: current.by });
      current.tree.spread((await this._host.request('op_spread', asked, signal)).table);
      current.isSpread = true;
    }
  }

  /** Load the children of a node that the snapshot left out; returns how many came. */
  async loadChildren(node: OpNode, signal: AbortSignal): Promise<number> {
    const { tree, by } = this.current;
    const limit = Math.min(MOST_ROWS, Math.max(ROWS, node.childrenTotal));
    const params = this._params({ by, limit, under: node.key });
    const { table } = await this._host.request('op_profile', params, signal);
    return tree.merge(table, node);
  }

  /** Bring in rows that match a filter and that the snapshot left out; returns how many came. */
  async search(filter: string, signal: AbortSignal): Promise<number> {
    const { tree, by } = this.current;
    // The host looks for one text: the longest word leaves the least that does not match the others.
    const search = searchTerms(filter).reduce((a, b) => (b.length > a.length ? b : a), '');
    const asked = `${by}:${search}`;
    if (search === '' || !this.isLive || !this.isPruned || this._searched.has(asked)) {
      return 0;
    }
    const params = this._params({ by, limit: ROWS, search });
    const { table } = await this._host.request('op_profile', params, signal);
    this._searched.add(asked);
    return tree.merge(table);
  }

  /** Whether the profile has rows that are not loaded. */
  get isPruned(): boolean {
    const { tree, summary } = this.current;
    const total = number(summary.node_count);
    return Number.isFinite(total) && tree.size < total;
  }

  /** What is known of one op: from the snapshot if it is there, else from the live profile. */
  async details(node: OpNode, signal: AbortSignal): Promise<Summary> {
    const { op, program_id } = node.labels;
    const { snapshot } = this._host;
    const saved = snapshot.details[`${program_id}/${op}`];
    if (saved !== undefined && this._given === snapshot.params) {
      return saved;
    }
    const { summary } = await this._host.request(
      'op_details',
      this._params({ program_id, op }, FILTERS),
      signal
    );
    return summary;
  }

  private _params(asked: Params, kept: readonly string[] = [...FILTERS, 'program']): Params {
    const given = this._given;
    return {
      ...Object.fromEntries(kept.filter((name) => name in given).map((name) => [name, given[name]])),
      ...asked
    };
  }
}

/** The filters that every question about one shown view repeats. */
const FILTERS = ['host', 'device', 'step', 'window_ps', 'compat'];

function grouped(by: Grouping, { table, summary, notes }: Answer): Grouped {
  const tree = new OpTree(table);
  return { by, tree, summary, notes, expanded: firstExpanded(tree), isSpread: false };
}
