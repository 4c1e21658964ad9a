/** Framework ops: the scopes as an icicle and as a tree, on the devices and on the hosts, by pass of the gradient. */
import { h } from '../dom';
import type { Summary } from '../host';
import { type AnswerFrame, answerView, type Part } from '../shell/answer';
import { choice, choiceGroup, press } from '../shell/choices';
import type { Choice } from '../shell/link';
import { attachTooltip } from '../shell/tooltip';
import treeStyle from '../tree/style.css?inline';
import { choiceOf, type OpNode, OpTree } from '../tree/tree';
import { explainNode } from './explain';
import { Flame } from './flame';
import { ScopeTree } from './scopes';
import style from './style.css?inline';

/** Draw the framework ops of a host into an element. */
export const mount = answerView({
  label: 'framework ops',
  styles: [treeStyle, style],
  parts: (frame) => [new FlamePart(frame)],
  table: (frame) => new ScopeTree(frame)
});

type Where = 'device' | 'host';

/** The icicle with its switches. */
class FlamePart implements Part {
  readonly node: HTMLElement;
  private readonly _flame: Flame;
  private readonly _where = (['device', 'host'] as const).map((on) =>
    choice(`${on}s`, on, () => this._show(on))
  );
  private readonly _passes = [
    choice('together', 'together', () => this._split(false)),
    choice('apart', 'apart', () => this._split(true))
  ];
  private readonly _switches = h('div', { class: 'jp-XprofFlame-switches' });
  private readonly _stop: () => void;
  private _on: Where = 'device';

  constructor(private readonly _frame: AnswerFrame) {
    this._flame = new Flame({ choose: (node) => this._frame.choose(choiceOf(node)) });
    this.node = h('div', {}, this._switches, this._flame.node);
    this._stop = attachTooltip(this.node, (target) => {
      const found = this._flame.nodeOf(target);
      return found === null ? null : { anchor: found.anchor, lines: explainNode(found.node) };
    });
    this._switches.append(
      choiceGroup('on', this._where),
      choiceGroup('forward and backward', this._passes),
      h(
        'span',
        { class: 'jp-XprofFlame-hint' },
        'width is time · click a scope to go in · hatched: computed again'
      )
    );
  }

  dispose(): void {
    this._stop();
    this._flame.dispose();
  }

  keys() {
    const shown = (label: string, what: string) => ({ keys: [], label, what, run: () => {} });
    return [
      shown('← → ↑ ↓', 'in the icicle: beside, out, in'),
      shown('Enter', 'in the icicle: go into a scope, choose an op')
    ];
  }

  back(): boolean {
    return this._flame.zoomOut();
  }

  update(): void {
    this._show(this._on);
  }

  get kept(): Summary {
    return { flame_on: this._on, is_flame_split: this._flame.isSplit };
  }

  adopt({ flame_on, is_flame_split }: Summary): void {
    this._flame.isSplit = is_flame_split === true;
    this._show(flame_on === 'host' ? 'host' : 'device');
  }

  follow(chosen: Choice): void {
    this._flame.follow(chosen);
  }

  private _show(on: Where): void {
    const tops = topsOf(this._frame);
    this._on = tops[on] === null && tops.device !== null ? 'device' : on;
    press(this._where, this._on);
    for (const button of this._where) {
      button.disabled = tops[button.dataset.choice as Where] === null;
    }
    const top = tops[this._on];
    const hasPasses = top !== null && top.measures.forward_time_ps + top.measures.backward_time_ps > 0;
    for (const button of this._passes) {
      button.disabled = !hasPasses;
      button.title = hasPasses ? '' : 'No op here is marked as of a gradient’s pass forward or back.';
    }
    this._flame.isSplit = this._flame.isSplit && hasPasses;
    press(this._passes, this._flame.isSplit ? 'apart' : 'together');
    this._flame.update(top);
  }

  private _split(isSplit: boolean): void {
    this._flame.isSplit = isSplit;
    this._flame.zoomOut();
    this._show(this._on);
  }
}

/** What stands for all devices and for all hosts. */
function topsOf({ answer }: AnswerFrame): Record<Where, OpNode | null> {
  const [root] = new OpTree(answer.table).top;
  const named = (kind: Where) => root?.children.find((node) => node.kind === kind) ?? null;
  return { device: named('device'), host: named('host') };
}
