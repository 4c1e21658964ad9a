import { nullTranslator } from '@jupyterlab/translation';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { NOW, run } from '../testing/runs';
import { type Row, rowsOf } from './rows';
import { extended, kept, NOTHING, only, toggled } from './selection';
import { grouped } from './sort';
import { RunTree } from './tree';
import { goalOf, TypeAhead } from './tree_keys';
import { inSight, offsetsOf, rowAt } from './visible';

const trans = nullTranslator.load('xprof_nb');
const RUNS = [
  run({ run: 'alpha', path: '/alpha', hosts: ['host-0', 'host-1'], hostCount: 2 }),
  run({ run: 'beta', path: '/beta', started: new Date('2026-11-30T12:00:00Z') }),
  run({ run: 'bravo', path: '/bravo', logdir: '/x', started: new Date('2026-11-29T12:00:00Z') })
];

describe('rowsOf', () => {
  const keys = (rows: readonly Row[]) => rows.map(({ key }) => key.replace('\n', ' '));
  const groups = grouped(RUNS, 'newest');

  it('is a tree of log dirs that are open and runs that are closed', () => {
    const rows = rowsOf(groups, new Set());
    expect(keys(rows)).toEqual(['logdir:/logs', 'run:/alpha', 'run:/beta', 'logdir:/x', 'run:/bravo']);
    expect(
      rows.map(({ level, position, siblings, expanded }) => [level, position, siblings, expanded])
    ).toEqual([
      [1, 1, 2, true],
      [2, 1, 2, false],
      [2, 2, 2, null],
      [1, 2, 2, true],
      [2, 1, 1, null]
    ]);
  });

  it('shows hosts of an open run, and nothing of a closed log dir', () => {
    expect(keys(rowsOf(groups, new Set(['run:/alpha', 'logdir:/x'])))).toEqual([
      'logdir:/logs',
      'run:/alpha',
      'host:/alpha host-0',
      'host:/alpha host-1',
      'run:/beta',
      'logdir:/x'
    ]);
  });
});

describe('keys', () => {
  const rows = rowsOf(grouped(RUNS, 'newest'), new Set(['run:/alpha']));

  it.each([
    ['ArrowDown', 0, 1],
    ['ArrowDown', 6, 6],
    ['ArrowUp', 0, 0],
    ['Home', 4, 0],
    ['End', 0, 6],
    ['PageDown', 1, 4],
    ['PageUp', 2, 0],
    ['ArrowRight', 1, 2],
    ['ArrowLeft', 3, 1],
    ['ArrowLeft', 4, 0],
    ['ArrowRight', 4, null],
    ['x', 0, null]
  ])('%s at %i leads to %s', (key, index, goal) => {
    expect(goalOf(key, rows, index, 3)).toBe(goal);
  });

  it('open and close', () => {
    expect(goalOf('ArrowLeft', rows, 1, 3)).toEqual({ toggle: [rows[1]] });
    const closed = rowsOf(grouped(RUNS, 'newest'), new Set(['logdir:/logs', 'logdir:/x']));
    expect(goalOf('ArrowRight', closed, 1, 3)).toEqual({ toggle: [closed[1]] });
    expect(goalOf('*', closed, 0, 3)).toEqual({ toggle: closed });
  });

  it('go to a name typed, letter by letter or one letter again and again', () => {
    const typing = new TypeAhead();
    expect(typing.type('b', rows, 1, 0)).toBe(4);
    expect(typing.type('r', rows, 4, 100)).toBe(6);
    expect(typing.type('b', rows, 6, 2_000)).toBe(4);
    expect(typing.type('B', rows, 4, 2_100)).toBe(6);
    expect(typing.type('z', rows, 6, 9_000)).toBeNull();
  });
});

describe('selection', () => {
  const keys = ['a', 'b', 'c', 'd'];

  it('is one, several, or a range either way from where it began', () => {
    expect([...toggled(only('a'), 'c').chosen]).toEqual(['a', 'c']);
    expect([...toggled(toggled(only('a'), 'c'), 'a').chosen]).toEqual(['c']);
    const down = extended(only('b'), keys, 'd');
    expect([...down.chosen]).toEqual(['b', 'c', 'd']);
    expect([...extended(down, keys, 'a').chosen]).toEqual(['a', 'b']);
    expect([...extended(NOTHING, keys, 'b').chosen]).toEqual(['b']);
  });

  it('keeps what is still there; the place of what is gone is the new one', () => {
    expect(kept(only('c'), keys, ['c', 'a'])).toEqual(only('c'));
    expect(kept(only('c'), keys, ['a', 'b', 'd']).active).toBe('d');
    expect(kept(only('d'), keys, ['a', 'b']).active).toBe('b');
    expect(kept(only('a'), keys, [])).toEqual(NOTHING);
    expect(kept(NOTHING, [], keys)).toEqual({ ...NOTHING, active: 'a' });
    expect([...kept(toggled(only('a'), 'b'), keys, ['b']).chosen]).toEqual(['b']);
  });
});

describe('rows in sight', () => {
  const offsets = offsetsOf([10, 20, 10, 20]);

  it.each([
    [-5, 0],
    [0, 0],
    [9.9, 0],
    [10, 1],
    [45, 3],
    [999, 3]
  ])('at %d is row %i', (y, index) => {
    expect(rowAt(offsets, y)).toBe(index);
  });

  it('are few of many', () => {
    const many = offsetsOf(Array.from({ length: 10_000 }, () => 44));
    expect(inSight(many, 44_000, 440, 5)).toEqual([995, 1016]);
    expect(inSight(offsets, 0, 0, 0)).toEqual([0, 1]);
    expect(inSight(offsetsOf([]), 0, 100, 5)).toEqual([0, 0]);
  });
});

describe('RunTree', () => {
  const deeds = { open: vi.fn(), searchTag: vi.fn(), drag: vi.fn(), toggled: vi.fn() };
  const thumbnail = vi.fn(async () => ({ busy: [1, 0.5], stepTimesPs: [] }));
  let tree: RunTree;

  beforeEach(() => {
    tree = new RunTree(trans, { thumbnail, can: () => true }, deeds);
    document.body.append(tree.node);
    tree.show(grouped(RUNS, 'newest'));
  });
  afterEach(() => {
    tree.dispose();
    document.body.replaceChildren();
    vi.clearAllMocks();
  });

  const row = (words: string) => {
    const found = [...tree.node.querySelectorAll<HTMLElement>('[role=treeitem]')].find((each) =>
      each.textContent?.includes(words)
    );
    expect(found, words).toBeDefined();
    return found as HTMLElement;
  };
  const press = (key: string, modifiers: KeyboardEventInit = {}) =>
    tree.node.dispatchEvent(
      new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...modifiers })
    );
  const click = (words: string, modifiers: MouseEventInit = {}) =>
    row(words).dispatchEvent(new MouseEvent('click', { bubbles: true, ...modifiers }));
  const chosen = () => tree.chosen.map(({ run: name }) => name);
  const active = () => document.getElementById(tree.node.getAttribute('aria-activedescendant') ?? '');

  it('is an ARIA tree of levels, places and states', () => {
    expect(tree.node.getAttribute('role')).toBe('tree');
    expect(tree.node.getAttribute('aria-multiselectable')).toBe('true');
    expect(row('alpha').getAttribute('aria-level')).toBe('2');
    expect(row('alpha').getAttribute('aria-expanded')).toBe('false');
    expect(row('beta').getAttribute('aria-posinset')).toBe('2');
    expect(row('beta').getAttribute('aria-setsize')).toBe('2');
    expect(row('beta').hasAttribute('aria-expanded')).toBe(false);
  });

  it('goes by keyboard: into log dirs, runs and hosts, and opens with Enter', () => {
    press('ArrowDown');
    expect(chosen()).toEqual(['alpha']);
    press('ArrowRight');
    expect(row('alpha').getAttribute('aria-expanded')).toBe('true');
    press('ArrowRight');
    expect(active()?.textContent).toBe('host-0');
    expect(chosen()).toEqual(['alpha']);
    press('End');
    expect(active()?.textContent).toContain('bravo');
    press('b');
    expect(active()?.textContent).toContain('beta');
    press('Enter');
    expect(deeds.open).toHaveBeenCalledWith(expect.objectContaining({ path: '/beta' }));
    press('Home');
    press('Enter');
    expect(row('/logs').getAttribute('aria-expanded')).toBe('false');
  });

  it('chooses several by keys and by clicks', () => {
    press('ArrowDown');
    press('ArrowDown', { shiftKey: true });
    expect(chosen()).toEqual(['alpha', 'beta']);
    press('ArrowDown', { ctrlKey: true });
    press('ArrowDown', { ctrlKey: true });
    expect(chosen()).toEqual(['alpha', 'beta']);
    press(' ');
    expect(chosen()).toEqual(['alpha', 'beta', 'bravo']);
    click('beta');
    expect(chosen()).toEqual(['beta']);
    click('bravo', { shiftKey: true });
    expect(chosen()).toEqual(['beta', 'bravo']);
    click('beta', { ctrlKey: true });
    expect(chosen()).toEqual(['bravo']);
    press('a', { ctrlKey: true });
    expect(chosen()).toEqual(['alpha', 'beta', 'bravo']);
  });

  it('opens a menu at the row that has the keyboard', () => {
    const targets: Element[] = [];
    document.body.addEventListener('contextmenu', (event) => targets.push(event.target as Element), {
      once: true
    });
    press('ArrowDown');
    press('F10', { shiftKey: true });
    expect(targets).toEqual([row('alpha')]);
  });

  it('opens a menu of what is chosen, or else of the row under the pointer', () => {
    const ask = (words: string) =>
      row(words).dispatchEvent(new MouseEvent('contextmenu', { bubbles: true, button: 2 }));
    press('a', { ctrlKey: true });
    ask('beta');
    expect(chosen()).toEqual(['alpha', 'beta', 'bravo']);
    click('alpha');
    ask('beta');
    expect(chosen()).toEqual(['beta']);
  });

  it('keeps what is chosen, open and drawn when runs appear', () => {
    press('ArrowDown');
    press('ArrowRight');
    const [drawn, host] = [row('alpha'), row('host-1')];
    tree.show(grouped([...RUNS, run({ run: 'new', path: '/new', started: NOW })], 'newest'));
    expect(chosen()).toEqual(['alpha']);
    expect(row('alpha')).toBe(drawn);
    expect(row('host-1')).toBe(host);
    expect(row('new').compareDocumentPosition(drawn) & Node.DOCUMENT_POSITION_FOLLOWING).toBeTruthy();
  });

  it('is told how it stood, and tells', () => {
    tree.toggled = ['logdir:/logs'];
    expect(row('/logs').getAttribute('aria-expanded')).toBe('false');
    expect(deeds.toggled).not.toHaveBeenCalled();
    press('ArrowRight');
    expect(deeds.toggled).toHaveBeenCalledTimes(1);
    expect(tree.toggled).toEqual([]);
  });

  it('draws few rows of many', () => {
    const many = Array.from({ length: 10_000 }, (_, index) => run({ run: `r${index}`, path: `/r${index}` }));
    tree.show(grouped(many, 'newest'));
    expect(tree.node.querySelectorAll('[role=treeitem]').length).toBeLessThan(50);
    press('End');
    expect(active()?.textContent).toContain('r9999');
  });

  it('loads thumbnails of what is in sight, once', async () => {
    vi.useFakeTimers();
    tree.show(grouped(RUNS, 'name'));
    await vi.advanceTimersByTimeAsync(1_000);
    vi.useRealTimers();
    expect(row('alpha').querySelector('svg')?.getAttribute('aria-label')).toContain('75.0 %');
    expect(row('alpha').querySelectorAll('rect')).toHaveLength(2);
    expect(thumbnail).toHaveBeenCalledTimes(3);
  });

  it('searches by a tag that is clicked, and drags what is chosen', () => {
    tree.show(grouped([run({ run: 'tagged', tags: ['base'] })], 'newest'));
    row('tagged')
      .querySelector('[data-tag]')
      ?.dispatchEvent(new MouseEvent('click', { bubbles: true }));
    expect(deeds.searchTag).toHaveBeenCalledWith('base');
    const pointer = (kind: string, clientX: number, buttons = 1) =>
      row('tagged').dispatchEvent(
        new PointerEvent(kind, { bubbles: true, button: 0, buttons, clientX, clientY: 0 })
      );
    pointer('pointerdown', 0);
    pointer('pointermove', 3);
    pointer('pointermove', 9, 0);
    pointer('pointermove', 9);
    expect(deeds.drag).not.toHaveBeenCalled();
    pointer('pointerdown', 0);
    pointer('pointermove', 9);
    expect(deeds.drag).toHaveBeenCalledTimes(1);
    expect(deeds.drag.mock.calls[0]?.[0]).toMatchObject([{ run: 'tagged' }]);
  });

  it('draws hostile names, notes, tags and folders as text', () => {
    const bad = '<img src=x onerror=alert(1)>';
    tree.show(
      grouped(
        [run({ run: bad, note: bad, tags: [bad], logdir: bad, device: bad, origin: bad, hosts: [bad] })],
        'name'
      )
    );
    press('End');
    press('ArrowRight');
    expect(tree.node.querySelector('img')).toBeNull();
    expect(tree.node.textContent?.split(bad)).toHaveLength(8);
  });
});
