/** The answer in one sentence, its op names linked to their rows, and the peaks its percentages are of. */
import { button, h } from '../dom';
import type { Summary } from '../host';
import { text } from '../payload';
import type { OpNode, OpTree } from '../tree/tree';
import { peakBytes, peakFlops } from './explain';

export function sentence(summary: Summary, tree: OpTree, show: (node: OpNode) => void): HTMLElement {
  const line = h('p', { class: 'jp-OpProfile-sentence' });
  for (const word of withFirmUnits(text(summary.sentence)).split(/(\s+)/)) {
    const [, name = '', rest = ''] = /^(.*?)([.,;:)]*)$/.exec(word) ?? [];
    const node = name ? opNamed(tree, name) : undefined;
    if (node === undefined) {
      line.append(word);
    } else {
      line.append(
        button(name, { class: 'jp-XprofLink', title: 'Show its row', click: () => show(node) }),
        rest
      );
    }
  }
  return line;
}

/** No line ends between a number and its unit. */
function withFirmUnits(sentence: string): string {
  return sentence.replace(/(\d) (?=%|[pnµm]?s\b|[kMGTPE]?(?:FLOP|B))/g, '$1\u00a0');
}

/** What the utilisations are shares of; null when no peak is known. */
export function peaks(summary: Summary): HTMLElement | null {
  const known = [
    { label: peakFlops(summary), source: text(summary.peak_flops_source) },
    { label: peakBytes(summary), source: text(summary.peak_bytes_source) }
  ].filter(({ label }) => label !== '');
  if (known.length === 0) {
    return null;
  }
  return h(
    'span',
    { class: 'jp-OpProfile-peaks' },
    ...known.map(({ label, source }) => h('span', { title: source }, label))
  );
}

/** The most expensive row of that name. */
function opNamed(tree: OpTree, name: string): OpNode | undefined {
  let found: OpNode | undefined;
  for (const node of tree.nodes()) {
    if (node.kind === 'op' && node.labels.op === name) {
      if (found === undefined || node.measures.time_ps > found.measures.time_ps) {
        found = node;
      }
    }
  }
  return found;
}
