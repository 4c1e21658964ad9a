/** The plugin of the launcher's card: a notebook that shows how to profile. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { ILauncher } from '@jupyterlab/launcher';
import type { KernelSpec } from '@jupyterlab/services';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { xprofIcon } from '../icon';
import { CommandIDs, PALETTE_CATEGORY, PluginIDs, TRANSLATION_DOMAIN } from '../tokens';
import { quickstart } from './quickstart';

const RANK = 20;
const PYTHON = { name: 'python3', display_name: 'Python 3' };

export const launcherPlugin: JupyterFrontEndPlugin<void> = {
  id: PluginIDs.launcher,
  description: 'Offers a quickstart notebook in the launcher.',
  autoStart: true,
  optional: [ILauncher, ICommandPalette, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    launcher: ILauncher | null,
    palette: ICommandPalette | null,
    translator: ITranslator | null
  ) => {
    const trans = (translator ?? nullTranslator).load(TRANSLATION_DOMAIN);
    const command = CommandIDs.newQuickstart;
    app.commands.addCommand(command, {
      label: (args) => (args.isLauncher ? trans.__('XProf Quickstart') : trans.__('New XProf Quickstart')),
      caption: trans.__('A notebook that profiles a small program and reads the answer'),
      icon: xprofIcon,
      describedBy: {
        args: {
          type: 'object',
          properties: { cwd: { type: 'string', description: trans.__('Folder of the notebook') } }
        }
      },
      execute: async ({ cwd }) => {
        const { contents, kernelspecs } = app.serviceManager;
        await kernelspecs.ready;
        const content = quickstart(trans, pythonOf(kernelspecs.specs));
        const { path } = await contents.newUntitled({ type: 'notebook', path: String(cwd ?? '') });
        await contents.save(path, { type: 'notebook', format: 'json', content });
        return app.commands.execute('docmanager:open', { path });
      }
    });
    launcher?.add({ command, args: { isLauncher: true }, category: trans.__('Notebook'), rank: RANK });
    palette?.addItem({ command, category: PALETTE_CATEGORY });
  }
};

/** The Python kernel to start: the default one, else the first. */
function pythonOf(specs: KernelSpec.ISpecModels | null): { name: string; display_name: string } {
  const found = Object.values(specs?.kernelspecs ?? {}).filter((spec) => spec?.language === 'python');
  const { name, display_name } = found.find((spec) => spec?.name === specs?.default) ?? found[0] ?? PYTHON;
  return { name, display_name };
}
