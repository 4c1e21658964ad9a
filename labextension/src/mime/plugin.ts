/** The plugin that draws saved views in notebooks. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { INotebookTracker, type NotebookPanel } from '@jupyterlab/notebook';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { MIME } from '@xprof-nb/views';
import { Api } from '../api';
import { PluginIDs } from '../tokens';
import { KnownRuns } from './known';
import { type Surroundings, ViewRenderer } from './renderer';

// Before widget-view (-10): a notebook reopened without a kernel shows the snapshot, not a missing widget.
const RANK = -20;

export const mimePlugin: JupyterFrontEndPlugin<void> = {
  id: PluginIDs.mime,
  description: 'Draws saved XProf views in notebook outputs.',
  autoStart: true,
  requires: [IRenderMimeRegistry],
  optional: [INotebookTracker],
  activate: (app: JupyterFrontEnd, rendermime: IRenderMimeRegistry, notebooks: INotebookTracker | null) => {
    const known = new KnownRuns(new Api(app.serviceManager.serverSettings));
    const register = (registry: IRenderMimeRegistry, surroundings: Surroundings | null) =>
      registry.addFactory(
        {
          safe: true,
          mimeTypes: [MIME],
          defaultRank: RANK,
          createRenderer: () => new ViewRenderer(known, surroundings)
        },
        RANK
      );
    register(rendermime, null);
    const inNotebook = ({ content, sessionContext }: NotebookPanel) =>
      register(content.rendermime, { rendermime: content.rendermime, sessionContext });
    notebooks?.forEach(inNotebook);
    notebooks?.widgetAdded.connect((_, panel) => inNotebook(panel));
  }
};
