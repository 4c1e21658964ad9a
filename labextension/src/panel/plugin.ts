/** The plugin of the XProf panel: its place, commands, settings. */
import { ILayoutRestorer, type JupyterFrontEnd, type JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { ILauncher } from '@jupyterlab/launcher';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { IStateDB } from '@jupyterlab/statedb';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { refreshIcon } from '@jupyterlab/ui-components';
import { Api } from '../api';
import { xprofIcon } from '../icon';
import { type Ability, RunsApi } from '../runs_api';
import { CommandIDs, PALETTE_CATEGORY, PANEL_ID, PluginIDs, TRANSLATION_DOMAIN } from '../tokens';
import { openCode } from './code';
import { addRunCommands, openViewMenu } from './commands';
import { startDrag } from './drag';
import { CodeInserter } from './insert';
import { JobList } from './jobs';
import { KernelList } from './kernels';
import { RunManager } from './manage';
import { RunsModel } from './model';
import { keepStanding } from './standing';
import { RunTree } from './tree';
import { RunsPanel } from './widget';

// Third parties have 501 to 899.
const RANK = 600;
const RUN_ROWS = '.jp-XprofRuns-row.jp-mod-ofRun';
const OPEN_VIEW_RANK = 1;
const DEFAULT_REFRESH_SECONDS = 10;
const NO_ARGUMENTS = { args: { type: 'object', properties: {} } } as const;

export const panelPlugin: JupyterFrontEndPlugin<void> = {
  id: PluginIDs.panel,
  description: 'Lists the profiled runs under the configured log dirs in the side bar.',
  autoStart: true,
  optional: [
    ILayoutRestorer,
    ICommandPalette,
    ILauncher,
    INotebookTracker,
    ISettingRegistry,
    IStateDB,
    ITranslator
  ],
  activate: (
    app: JupyterFrontEnd,
    restorer: ILayoutRestorer | null,
    palette: ICommandPalette | null,
    launcher: ILauncher | null,
    notebooks: INotebookTracker | null,
    settings: ISettingRegistry | null,
    state: IStateDB | null,
    translator: ITranslator | null
  ) => {
    const trans = (translator ?? nullTranslator).load(TRANSLATION_DOMAIN);
    const api = new Api(app.serviceManager.serverSettings);
    const runsApi = new RunsApi(api);
    const model = new RunsModel(runsApi, DEFAULT_REFRESH_SECONDS * 1000);
    const look = () => {
      model.refresh().catch(() => undefined);
    };
    const openRun = (path: string, name: string) => {
      // Whoever has switched off the plugin of documents lists runs all the same.
      if (app.commands.hasCommand(CommandIDs.openRun)) {
        void app.commands.execute(CommandIDs.openRun, { path, name });
      }
    };
    const inserter = new CodeInserter(notebooks, app.commands, (id) => app.shell.activateById(id));
    const tree = new RunTree(trans, runsApi, {
      open: ({ path, run }) => openRun(path, run),
      searchTag: (tag) => panel.searchTag(tag),
      drag: (runs, row, event) => startDrag(openCode(runs), row, event),
      toggled: () => panel.stood()
    });
    const kernels = new KernelList(app.serviceManager, trans, ({ path, name }) => openRun(path, name), look);
    const panel = new RunsPanel(
      model,
      api,
      runsApi,
      trans,
      { tree, kernels, jobs: new JobList(runsApi, trans) },
      notebooks && ((code) => void inserter.insert(code))
    );
    app.shell.add(panel, 'left', { rank: RANK, type: 'XProf' });
    restorer?.add(panel, PANEL_ID);
    if (settings !== null) {
      void followSettings(app, settings, panel, model);
    }
    if (state !== null) {
      void keepStanding(state, PluginIDs.panel, panel);
    }

    returnFocus(app, tree.node);
    addCommands(app, model, trans);
    const tools = {
      commands: app.commands,
      trans,
      inserter,
      manager: new RunManager(runsApi, trans, look),
      allRuns: () => model.list?.runs ?? [],
      can: (ability: Ability) => runsApi.can(ability)
    };
    addRunCommands(tools, {
      runs: () => tree.chosen,
      logdir: () => tree.logdir ?? model.list?.roots[0] ?? null
    });
    app.contextMenu.addItem({
      type: 'submenu',
      submenu: openViewMenu(app.commands, trans),
      selector: RUN_ROWS,
      rank: OPEN_VIEW_RANK
    });
    for (const command of [CommandIDs.openPanel, CommandIDs.refreshRuns]) {
      palette?.addItem({ command, category: PALETTE_CATEGORY });
    }
    launcher?.add({
      command: CommandIDs.openPanel,
      args: { isLauncher: true },
      category: trans.__('Other'),
      rank: 10
    });
  }
};

type Translation = ReturnType<ITranslator['load']>;

function addCommands(app: JupyterFrontEnd, model: RunsModel, trans: Translation): void {
  app.commands.addCommand(CommandIDs.openPanel, {
    label: (args) => (args.isLauncher ? trans.__('XProf') : trans.__('Show XProf Runs')),
    caption: trans.__('Browse the profiled runs'),
    icon: xprofIcon,
    describedBy: NO_ARGUMENTS,
    execute: () => app.shell.activateById(PANEL_ID)
  });
  app.commands.addCommand(CommandIDs.refreshRuns, {
    label: trans.__('Refresh XProf Runs'),
    caption: trans.__('Look for profiled runs again'),
    icon: refreshIcon,
    describedBy: NO_ARGUMENTS,
    execute: () => model.refresh().catch(() => undefined)
  });
}

/** A context menu takes the keyboard and does not give it back. */
function returnFocus(app: JupyterFrontEnd, node: HTMLElement): void {
  let isOurs = false;
  node.addEventListener('contextmenu', () => {
    isOurs = true;
  });
  app.contextMenu.menu.aboutToClose.connect(() => {
    if (isOurs) {
      isOurs = false;
      node.focus();
    }
  });
}

/** Keep the panel on the side, and looking as often, as the settings say. */
async function followSettings(
  app: JupyterFrontEnd,
  registry: ISettingRegistry,
  panel: RunsPanel,
  model: RunsModel
): Promise<void> {
  const settings = await registry.load(PluginIDs.panel);
  let side = 'left';
  const apply = () => {
    model.intervalMs = Number(settings.get('refreshSeconds').composite) * 1000;
    const wanted = String(settings.get('side').composite);
    if (wanted !== side) {
      side = wanted;
      app.shell.add(panel, side, { rank: RANK, type: 'XProf' });
    }
  };
  settings.changed.connect(apply);
  apply();
}
