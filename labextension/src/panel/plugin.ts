/** The plugin of the XProf panel: its place, commands, settings. */
import { ILayoutRestorer, type JupyterFrontEnd, type JupyterFrontEndPlugin } from '@jupyterlab/application';
import { Clipboard, ICommandPalette } from '@jupyterlab/apputils';
import { ILauncher } from '@jupyterlab/launcher';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { refreshIcon } from '@jupyterlab/ui-components';
import { Api } from '../api';
import { xprofIcon } from '../icon';
import { CommandIDs, PALETTE_CATEGORY, PANEL_ID, PluginIDs, TRANSLATION_DOMAIN } from '../tokens';
import { KernelList } from './kernels';
import { RunsModel } from './model';
import { RunsPanel } from './widget';

// Third parties have 501 to 899.
const RANK = 600;
const DEFAULT_REFRESH_SECONDS = 10;
const NO_ARGUMENTS = { args: { type: 'object', properties: {} } } as const;

export const panelPlugin: JupyterFrontEndPlugin<void> = {
  id: PluginIDs.panel,
  description: 'Lists the profiled runs under the configured log dirs in the side bar.',
  autoStart: true,
  optional: [ILayoutRestorer, ICommandPalette, ILauncher, ISettingRegistry, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    restorer: ILayoutRestorer | null,
    palette: ICommandPalette | null,
    launcher: ILauncher | null,
    settings: ISettingRegistry | null,
    translator: ITranslator | null
  ) => {
    const trans = (translator ?? nullTranslator).load(TRANSLATION_DOMAIN);
    const api = new Api(app.serviceManager.serverSettings);
    const model = new RunsModel(api, DEFAULT_REFRESH_SECONDS * 1000);
    const openRun = (path: string, name: string) => {
      void app.commands.execute(CommandIDs.openRun, { path, name });
    };
    const kernels = new KernelList(
      app.serviceManager,
      trans,
      ({ path, name }) => openRun(path, name),
      () => {
        model.refresh().catch(() => undefined);
      }
    );
    const panel = new RunsPanel(model, api, trans, ({ path, run }) => openRun(path, run), kernels);
    app.shell.add(panel, 'left', { rank: RANK, type: 'XProf' });
    restorer?.add(panel, PANEL_ID);
    if (settings !== null) {
      void followSettings(app, settings, panel, model);
    }

    addCommands(app, model, trans);
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
  const pathUnderPointer = () =>
    app.contextMenuHitTest((node) => node.dataset.path !== undefined)?.dataset.path ?? '';

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
  app.commands.addCommand(CommandIDs.copyPath, {
    label: trans.__('Copy Path'),
    caption: trans.__('Copy the folder of the run'),
    describedBy: NO_ARGUMENTS,
    execute: () => Clipboard.copyToSystem(pathUnderPointer())
  });
  app.commands.addCommand(CommandIDs.copyPython, {
    label: trans.__('Copy as Python'),
    caption: trans.__('Copy the line that opens the run in a notebook'),
    describedBy: NO_ARGUMENTS,
    execute: () => Clipboard.copyToSystem(`xprof_nb.open(${JSON.stringify(pathUnderPointer())})`)
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
