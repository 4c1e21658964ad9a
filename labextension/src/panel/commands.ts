/** The commands of runs; they act on what is chosen in the panel, or on what their arguments name. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { fileUploadIcon } from '@jupyterlab/ui-components';
import type { CommandRegistry } from '@lumino/commands';
import { Menu } from '@lumino/widgets';
import { texts, VIEWS } from '@xprof-nb/views';
import { xprofIcon } from '../icon';
import type { RunEntry } from '../runs_api';
import { CommandIDs, RunCommandIDs } from '../tokens';
import { type Deed, deedsOf, few, type Tools } from './deeds';

type Arguments = Readonly<Record<string, unknown>>;

/** What is chosen in the panel. */
export interface Chosen {
  runs(): readonly RunEntry[];
  /** Where an import goes; null when there is no log dir. */
  logdir(): string | null;
}

export function addRunCommands(tools: Tools, chosen: Chosen): void {
  const runsOf = (args: Arguments) => named(args, tools.allRuns()) ?? chosen.runs();
  const describedBy = { args: argumentsOf(tools.trans) };
  for (const [id, deed] of Object.entries(deedsOf(tools))) {
    tools.commands.addCommand(id, {
      label: deed.label,
      caption: deed.caption,
      icon: deed.icon,
      describedBy,
      isVisible: (args) => isFor(deed, runsOf(args).length),
      isEnabled: (args) => isFor(deed, runsOf(args).length) && (deed.isPossible?.() ?? true),
      execute: (args) => deed.execute(runsOf(args))
    });
  }
  addOpenView(tools, runsOf);
  addImport(tools, chosen);
}

/** The submenu that opens a run at one of its views. */
export function openViewMenu(commands: CommandRegistry, trans: TranslationBundle): Menu {
  const menu = new Menu({ commands });
  menu.id = 'jp-XprofOpenView-menu';
  menu.title.label = trans.__('Open View');
  menu.title.icon = xprofIcon;
  for (const [view, { isExplored }] of VIEWS) {
    if (isExplored) {
      menu.addItem({ command: RunCommandIDs.openView, args: { view } });
    }
  }
  return menu;
}

function addOpenView({ commands, trans }: Tools, runsOf: (args: Arguments) => readonly RunEntry[]): void {
  const labelOf = (args: Arguments) => VIEWS.get(String(args.view))?.label ?? trans.__('view');
  const { properties } = argumentsOf(trans);
  const view = { type: 'string', description: trans.__('Name of the view') };
  commands.addCommand(RunCommandIDs.openView, {
    label: (args) => capitalized(labelOf(args)),
    caption: (args) => trans.__('Open the run at its %1', labelOf(args)),
    describedBy: { args: { type: 'object', properties: { ...properties, view } } },
    isEnabled: (args) => few(runsOf(args).length) && commands.hasCommand(CommandIDs.openRun),
    execute: (args) => {
      for (const { path, run } of runsOf(args)) {
        const state = { shown: { view: String(args.view) }, made: {} };
        void commands.execute(CommandIDs.openRun, { path, name: run, state });
      }
    }
  });
}

function addImport({ commands, manager, trans, can }: Tools, chosen: Chosen): void {
  commands.addCommand(RunCommandIDs.import_, {
    label: trans.__('Import…'),
    caption: trans.__('Put runs that were exported as zips into this log dir'),
    icon: fileUploadIcon,
    describedBy: { args: { type: 'object', properties: {} } },
    isVisible: () => can('transfer'),
    isEnabled: () => can('transfer') && chosen.logdir() !== null,
    execute: () => {
      const logdir = chosen.logdir();
      const input = document.createElement('input');
      input.type = 'file';
      input.accept = '.zip,application/zip';
      input.multiple = true;
      input.addEventListener('change', () => {
        if (logdir !== null) {
          manager.import([...(input.files ?? [])], logdir);
        }
      });
      input.click();
    }
  });
}

function isFor({ takes, isOffered }: Deed, count: number): boolean {
  return takes(count) && (isOffered?.() ?? true);
}

/** The runs that arguments name; null when they name none. */
function named({ paths }: Arguments, runs: readonly RunEntry[]): RunEntry[] | null {
  if (paths === undefined) {
    return null;
  }
  const wanted = texts(paths);
  return runs.filter(({ path }) => wanted.includes(path));
}

function argumentsOf(trans: TranslationBundle) {
  const paths = {
    type: 'array',
    items: { type: 'string' },
    description: trans.__('Paths of runs the panel lists; those chosen in it when absent')
  } as const;
  return { type: 'object', properties: { paths } } as const;
}

function capitalized(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
