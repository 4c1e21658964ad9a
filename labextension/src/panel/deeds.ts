/** What can be done with runs, by the id of its command. */
import { Clipboard } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import {
  codeIcon,
  copyIcon,
  deleteIcon,
  downloadIcon,
  editIcon,
  type LabIcon,
  linkIcon,
  tagIcon
} from '@jupyterlab/ui-components';
import type { CommandRegistry } from '@lumino/commands';
import { xprofIcon } from '../icon';
import type { Ability, RunEntry } from '../runs_api';
import { CommandIDs, RunCommandIDs } from '../tokens';
import { askName, askNote, askOther, askTags } from './ask';
import { compareCode, openCode } from './code';
import type { CodeInserter } from './insert';
import type { RunManager } from './manage';
import { commonTags, editedTags } from './tags';

/** What deeds are done with. */
export interface Tools {
  readonly commands: CommandRegistry;
  readonly trans: TranslationBundle;
  readonly inserter: CodeInserter;
  readonly manager: RunManager;
  /** All runs there are. */
  allRuns(): readonly RunEntry[];
  /** What the server can do. */
  can(ability: Ability): boolean;
}

export interface Deed {
  readonly label: string;
  readonly caption: string;
  readonly icon: LabIcon;
  /** How many runs it is for. */
  takes(count: number): boolean;
  /** Whether it can be done where this runs at all; yes when absent. */
  isOffered?(): boolean;
  /** Whether it can be done now; yes when absent. */
  isPossible?(): boolean;
  execute(runs: readonly RunEntry[]): unknown;
}

const one = (count: number) => count === 1;
const two = (count: number) => count === 2;
const some = (count: number) => count > 0;
/** As many as a person wants tabs or downloads at once. */
export const few = (count: number) => count > 0 && count <= 10;

export function deedsOf(tools: Tools): Readonly<Record<string, Deed>> {
  return { ...openingDeeds(tools), ...notebookDeeds(tools), ...changingDeeds(tools), ...copyingDeeds(tools) };
}

function openingDeeds({ commands, trans }: Tools): Readonly<Record<string, Deed>> {
  return {
    [RunCommandIDs.open]: {
      label: trans.__('Open'),
      caption: trans.__('Open all views of the run'),
      icon: xprofIcon,
      takes: few,
      isPossible: () => commands.hasCommand(CommandIDs.openRun),
      execute: (runs) => {
        for (const { path, run } of runs) {
          void commands.execute(CommandIDs.openRun, { path, name: run });
        }
      }
    }
  };
}

function notebookDeeds({ inserter, trans, allRuns }: Tools): Readonly<Record<string, Deed>> {
  const compare = (a: RunEntry, b: RunEntry) => inserter.insert(compareCode(...inTime(a, b)));
  return {
    [RunCommandIDs.insertCode]: {
      label: trans.__('Insert Code Cell'),
      caption: trans.__('Insert the line that opens the run into the notebook'),
      icon: codeIcon,
      takes: some,
      isPossible: () => inserter.isPossible,
      execute: (runs) => inserter.insert(openCode(runs))
    },
    [RunCommandIDs.compare]: {
      label: trans.__('Compare'),
      caption: trans.__('Compare two runs: what became faster, what slower'),
      icon: xprofIcon,
      takes: two,
      isPossible: () => inserter.isPossible,
      execute: ([a, b]) => a && b && compare(a, b)
    },
    [RunCommandIDs.compareWith]: {
      label: trans.__('Compare With…'),
      caption: trans.__('Choose another run to compare this one with'),
      icon: xprofIcon,
      takes: one,
      isPossible: () => inserter.isPossible && allRuns().length > 1,
      execute: async ([run]) => {
        const others = allRuns().filter((other) => other.path !== run?.path);
        const other = run && (await askOther(run, others, trans));
        return run && other ? compare(run, other) : undefined;
      }
    }
  };
}

function changingDeeds({ manager, trans, can }: Tools): Readonly<Record<string, Deed>> {
  const isOffered = () => can('manage');
  return {
    [RunCommandIDs.rename]: {
      label: trans.__('Rename…'),
      caption: trans.__('Give the run another name'),
      icon: editIcon,
      takes: one,
      isOffered,
      execute: async ([run]) => {
        const name = run && (await askName(run, trans));
        return run && name ? manager.change([run], () => ({ name })) : undefined;
      }
    },
    [RunCommandIDs.editNote]: {
      label: trans.__('Edit Note…'),
      caption: trans.__('Say what this run was about'),
      icon: editIcon,
      takes: one,
      isOffered,
      execute: async ([run]) => {
        const note = run ? await askNote(run, trans) : null;
        return run && note !== null ? manager.change([run], () => ({ note })) : undefined;
      }
    },
    [RunCommandIDs.editTags]: {
      label: trans.__('Tags…'),
      caption: trans.__('Tag runs to find them by'),
      icon: tagIcon,
      takes: some,
      isOffered,
      execute: async (runs) => {
        const common = commonTags(runs);
        const edited = await askTags(common, runs.length, trans);
        return edited && manager.change(runs, (run) => ({ tags: editedTags(run.tags, common, edited) }));
      }
    },
    [RunCommandIDs.export_]: {
      label: trans.__('Export as Zip'),
      caption: trans.__('Download the files of the run'),
      icon: downloadIcon,
      takes: few,
      isOffered: () => can('transfer'),
      execute: (runs) => manager.export(runs)
    },
    [RunCommandIDs.discard]: {
      label: trans.__('Move to Trash'),
      caption: trans.__('Move runs to the trash of their log dir, from where they can be restored'),
      icon: deleteIcon,
      takes: some,
      isOffered,
      execute: (runs) => manager.discard(runs)
    }
  };
}

function copyingDeeds({ commands, trans }: Tools): Readonly<Record<string, Deed>> {
  const copy = (text: string) => Clipboard.copyToSystem(text);
  return {
    [RunCommandIDs.copyRunLink]: {
      label: trans.__('Copy Link'),
      caption: trans.__('Copy the address that opens the run'),
      icon: linkIcon,
      takes: one,
      isOffered: () => commands.hasCommand(CommandIDs.copyLink),
      execute: ([run]) => run && commands.execute(CommandIDs.copyLink, { path: run.path })
    },
    [RunCommandIDs.copyPath]: {
      label: trans.__('Copy Path'),
      caption: trans.__('Copy the folder of the run'),
      icon: copyIcon,
      takes: some,
      execute: (runs) => copy(runs.map(({ path }) => path).join('\n'))
    },
    [RunCommandIDs.copyPython]: {
      label: trans.__('Copy as Python'),
      caption: trans.__('Copy the line that opens the run in a notebook'),
      icon: copyIcon,
      takes: some,
      execute: (runs) => copy(openCode(runs))
    }
  };
}

/** The older run first: what changed is read from it to the newer one. */
function inTime(a: RunEntry, b: RunEntry): [RunEntry, RunEntry] {
  return (a.started?.getTime() ?? 0) <= (b.started?.getTime() ?? 0) ? [a, b] : [b, a];
}
