/** The plugin that opens a folder of the file browser as a run. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IFileBrowserFactory } from '@jupyterlab/filebrowser';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { xprofIcon } from '../icon';
import { CommandIDs, PluginIDs, TRANSLATION_DOMAIN } from '../tokens';

const FOLDERS = '.jp-DirListing-item[data-isdir="true"]';
/** After what the file browser itself offers for opening. */
const RANK = 3;

export const foldersPlugin: JupyterFrontEndPlugin<void> = {
  id: PluginIDs.folders,
  description: 'Opens folders of the file browser as runs.',
  autoStart: true,
  requires: [IFileBrowserFactory],
  optional: [ITranslator],
  activate: (app: JupyterFrontEnd, { tracker }: IFileBrowserFactory, translator: ITranslator | null) => {
    const trans = (translator ?? nullTranslator).load(TRANSLATION_DOMAIN);
    const chosen = () =>
      [...(tracker.currentWidget?.selectedItems() ?? [])].filter(({ type }) => type === 'directory');
    app.commands.addCommand(CommandIDs.openFolder, {
      label: trans.__('Open as XProf Run'),
      caption: trans.__('Open the run in this folder; of several the newest'),
      icon: xprofIcon,
      describedBy: { args: { type: 'object', properties: {} } },
      isVisible: () => chosen().length === 1 && app.commands.hasCommand(CommandIDs.openRun),
      execute: async () => {
        const [folder] = chosen();
        if (folder !== undefined) {
          const path = app.serviceManager.contents.localPath(folder.path);
          await app.commands.execute(CommandIDs.openRun, { path, name: folder.name });
        }
      }
    });
    app.contextMenu.addItem({ command: CommandIDs.openFolder, selector: FOLDERS, rank: RANK });
  }
};
