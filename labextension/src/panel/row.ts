/** Drawing one row of the tree of runs. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { element } from '../dom';
import type { RunEntry, Thumbnail } from '../runs_api';
import { ago, exactly, facts, MOST_LETTERS } from './facts';
import type { Row } from './rows';
import { spark } from './spark';

let drawn = 0;

/** Whether two rows are drawn alike, but for their place and selection. */
export function looksLike(a: Row, b: Row): boolean {
  const hasSameContent =
    a.kind === 'logdir'
      ? b.kind === 'logdir' && a.runCount === b.runCount
      : b.kind === a.kind && b.run === a.run;
  return a.key === b.key && a.expanded === b.expanded && hasSameContent;
}

/** How many lines of text a row has. */
export function linesOf(row: Row): number {
  if (row.kind === 'run') {
    return row.run.note || row.run.tags.length > 0 ? 3 : 2;
  }
  return 1;
}

export function drawRow(row: Row, thumbnail: Thumbnail, trans: TranslationBundle): HTMLElement {
  const twisty = element(
    'span',
    'jp-XprofRuns-twisty',
    row.expanded === null ? '' : row.expanded ? '▾' : '▸'
  );
  twisty.setAttribute('aria-hidden', 'true');
  const ofRun = row.kind === 'logdir' ? '' : 'jp-mod-ofRun';
  const node = element(
    'div',
    `jp-XprofRuns-row jp-XprofRuns-${row.kind} ${ofRun}`,
    twisty,
    ...contentOf(row, trans)
  );
  node.id = `xprof-nb-row-${drawn++}`;
  node.dataset.key = row.key;
  node.setAttribute('role', 'treeitem');
  node.setAttribute('aria-level', String(row.level));
  if (row.expanded !== null) {
    node.setAttribute('aria-expanded', String(row.expanded));
  }
  if (row.kind === 'run') {
    node.title = exactly(row.run);
    drawThumbnail(node, thumbnail, trans);
  } else {
    node.title = row.kind === 'logdir' ? row.logdir : trans.__('Host %1 of %2', row.host, row.run.run);
  }
  return node;
}

/** Put the thumbnail of a run into its row. */
export function drawThumbnail(node: HTMLElement, thumbnail: Thumbnail, trans: TranslationBundle): void {
  node.querySelector('.jp-XprofRuns-spark')?.remove();
  const picture = spark(thumbnail, trans);
  if (picture !== null) {
    node.querySelector('.jp-XprofRuns-facts')?.after(picture);
  }
}

/** Say anew how long ago a run was. */
export function updateAge(node: HTMLElement, { started }: RunEntry, trans: TranslationBundle): void {
  const when = node.querySelector('.jp-XprofRuns-when');
  if (started !== null && when !== null) {
    when.textContent = ago(started, new Date(), trans);
  }
}

function contentOf(row: Row, trans: TranslationBundle): Node[] {
  if (row.kind === 'logdir') {
    return [
      element('div', 'jp-XprofRuns-path', element('bdi', '', row.logdir)),
      element('div', 'jp-XprofRuns-count', trans._n('%1 run', '%1 runs', row.runCount))
    ];
  }
  if (row.kind === 'host') {
    return [element('div', 'jp-XprofRuns-name', row.host)];
  }
  const { run } = row;
  const parts: Node[] = [
    element('div', 'jp-XprofRuns-name', run.run),
    element('div', 'jp-XprofRuns-when', run.started ? ago(run.started, new Date(), trans) : ''),
    element('div', 'jp-XprofRuns-facts', facts(run, trans))
  ];
  if (linesOf(row) === 3) {
    parts.push(
      element(
        'div',
        'jp-XprofRuns-said',
        ...run.tags.map((tag) => tagOf(tag, trans)),
        element('span', 'jp-XprofRuns-note', run.note.slice(0, MOST_LETTERS))
      )
    );
  }
  return parts;
}

function tagOf(tag: string, trans: TranslationBundle): HTMLElement {
  const node = element('span', 'jp-XprofRuns-tag', tag);
  node.dataset.tag = tag;
  node.title = trans.__('Show the runs tagged %1', tag);
  return node;
}
