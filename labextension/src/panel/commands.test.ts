import { nullTranslator } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';
import { VIEWS } from '@xprof-nb/views';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import schema from '../../schema/panel.json';
import type { RunEntry } from '../runs_api';
import { run } from '../testing/runs';
import { CommandIDs, RunCommandIDs } from '../tokens';
import { compareCode, openCode } from './code';
import { addRunCommands, openViewMenu } from './commands';
import type { CodeInserter } from './insert';
import type { RunManager } from './manage';
import { commonTags, editedTags, readTags } from './tags';

// They bring web components, which this DOM cannot make.
vi.mock('@jupyterlab/ui-components', () => {
  class LabIcon {}
  const icons = [
    'codeIcon',
    'copyIcon',
    'deleteIcon',
    'downloadIcon',
    'editIcon',
    'fileUploadIcon',
    'linkIcon',
    'tagIcon'
  ];
  return { LabIcon, ...Object.fromEntries(icons.map((name) => [name, new LabIcon()])) };
});
vi.mock('@jupyterlab/apputils', () => ({ Clipboard: {}, Dialog: {}, InputDialog: {}, showDialog: null }));

const trans = nullTranslator.load('xprof_nb');
const A = run({ run: 'a', path: '/a', started: new Date('2026-01-02') });
const B = run({ run: 'b', path: '/b', started: new Date('2026-01-01') });

describe('the commands of runs', () => {
  const opened = vi.fn();
  const linked = vi.fn();
  const inserter = { isPossible: true, insert: vi.fn() };
  const manager = { export: vi.fn(), discard: vi.fn(), change: vi.fn(), import: vi.fn() };
  let commands: CommandRegistry;
  let chosen: RunEntry[];
  let logdir: string | null;
  let isAble: boolean;

  beforeEach(() => {
    vi.clearAllMocks();
    commands = new CommandRegistry();
    commands.addCommand(CommandIDs.openRun, { execute: opened });
    commands.addCommand(CommandIDs.copyLink, { execute: linked });
    inserter.isPossible = true;
    logdir = '/logs';
    isAble = true;
    addRunCommands(
      {
        commands,
        trans,
        inserter: inserter as unknown as CodeInserter,
        manager: manager as unknown as RunManager,
        allRuns: () => [A, B],
        can: () => isAble
      },
      { runs: () => chosen, logdir: () => logdir }
    );
  });

  it.each([
    [[], []],
    [
      [A],
      [RunCommandIDs.rename, RunCommandIDs.editNote, RunCommandIDs.compareWith, RunCommandIDs.copyRunLink]
    ],
    [[A, B], [RunCommandIDs.compare]]
  ])('are there only when they make sense: %#', (runs, special) => {
    chosen = runs;
    const some = [
      RunCommandIDs.open,
      RunCommandIDs.insertCode,
      RunCommandIDs.editTags,
      RunCommandIDs.export_,
      RunCommandIDs.discard,
      RunCommandIDs.copyPath,
      RunCommandIDs.copyPython
    ];
    const enabled = Object.values(RunCommandIDs).filter(
      (id) => commands.isEnabled(id) && commands.isVisible(id)
    );
    const always = [RunCommandIDs.import_, ...(runs.length > 0 ? [...some, RunCommandIDs.openView] : [])];
    expect(new Set(enabled)).toEqual(new Set([...always, ...special]));
  });

  it('need a notebook, another run, a log dir', () => {
    chosen = [A];
    inserter.isPossible = false;
    logdir = null;
    for (const id of [RunCommandIDs.insertCode, RunCommandIDs.compareWith, RunCommandIDs.import_]) {
      expect(commands.isEnabled(id), id).toBe(false);
    }
  });

  it('change nothing where the server cannot', () => {
    chosen = [A];
    isAble = false;
    const { rename, editNote, editTags, export_, import_, discard } = RunCommandIDs;
    for (const id of [rename, editNote, editTags, export_, import_, discard]) {
      expect([commands.isVisible(id), commands.isEnabled(id)], id).toEqual([false, false]);
    }
    expect(commands.isEnabled(RunCommandIDs.open)).toBe(true);
  });

  it('have a label, a caption and arguments that are described', async () => {
    chosen = [A];
    for (const id of Object.values(RunCommandIDs)) {
      const args = id === RunCommandIDs.openView ? { view: 'trace' } : {};
      expect(commands.label(id, args), id).not.toBe('');
      expect(commands.caption(id, args), id).not.toBe('');
      expect((await commands.describedBy(id)).args, id).not.toBeNull();
    }
  });

  it('open runs, at a view too', async () => {
    chosen = [A, B];
    await commands.execute(RunCommandIDs.open);
    await commands.execute(RunCommandIDs.openView, { view: 'trace', paths: ['/b'] });
    expect(opened.mock.calls.map(([args]) => args)).toEqual([
      { path: '/a', name: 'a' },
      { path: '/b', name: 'b' },
      { path: '/b', name: 'b', state: { shown: { view: 'trace' }, made: {} } }
    ]);
  });

  it('copy the address of a run', async () => {
    chosen = [A];
    await commands.execute(RunCommandIDs.copyRunLink);
    expect(linked).toHaveBeenCalledWith({ path: '/a' });
  });

  it('act on the runs that are named, and on no others', async () => {
    chosen = [A];
    await commands.execute(RunCommandIDs.discard, { paths: ['/b'] });
    expect(manager.discard).toHaveBeenCalledWith([B]);
    expect(commands.isEnabled(RunCommandIDs.discard, { paths: ['/gone'] })).toBe(false);
  });

  it('compare from the older to the newer', async () => {
    chosen = [A, B];
    await commands.execute(RunCommandIDs.compare);
    expect(inserter.insert).toHaveBeenCalledWith(compareCode(B, A));
  });

  it('list every tab of a run in the menu', () => {
    const menu = openViewMenu(commands, trans);
    const tabs = [...VIEWS].filter(([, { isExplored }]) => isExplored).map(([view]) => view);
    expect(menu.items.map(({ args }) => args.view)).toEqual(tabs);
    expect(menu.items.find(({ args }) => args.view === 'trace')?.label).toBe('Timeline');
  });

  it('are what the schema puts into menus and under keys', () => {
    const menus = schema['jupyter.lab.menus'].context.flatMap((item) =>
      'command' in item ? [item.command] : []
    );
    const keys = schema['jupyter.lab.shortcuts'].map(({ command }) => command);
    const known = new Set<string>([...Object.values(RunCommandIDs), ...Object.values(CommandIDs)]);
    // JupyterLab takes no lists of selectors, and throws away all items for one.
    expect(JSON.stringify(schema['jupyter.lab.menus'].context)).not.toMatch(/"selector":"[^"]*,/);
    expect([...menus, ...keys].filter((command) => !known.has(command ?? ''))).toEqual([]);
    const inMenus = new Set([...menus, RunCommandIDs.openView]);
    expect(Object.values(RunCommandIDs).filter((command) => !inMenus.has(command))).toEqual([]);
  });
});

describe('code', () => {
  it('is Python whatever a path is', () => {
    const odd = run({ path: '/a "b"\\c\n\u00e9' });
    expect(openCode([odd])).toBe('import xprof_nb as xp\n\nxp.open("/a \\"b\\"\\\\c\\né")');
    expect(compareCode(A, B)).toBe('import xprof_nb as xp\n\nxp.compare(xp.open("/a"), xp.open("/b"))');
  });
});

describe('tags', () => {
  it('are read from commas, each once', () => {
    expect(readTags(' a, b c,,a , ')).toEqual(['a', 'b c']);
  });

  it('change what several runs have in common, and leave what each has alone', () => {
    const runs = [{ tags: ['a', 'b', 'own'] }, { tags: ['b', 'a'] }];
    expect(commonTags(runs)).toEqual(['a', 'b']);
    expect(editedTags(['a', 'b', 'own'], ['a', 'b'], ['b', 'new'])).toEqual(['b', 'own', 'new']);
    expect(commonTags([])).toEqual([]);
  });
});
