/** The plugin of runs as documents: any of them by its path. */
import { ILayoutRestorer, type JupyterFrontEnd, type JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette, InputDialog, MainAreaWidget, WidgetTracker } from '@jupyterlab/apputils';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import type { JSONValue } from '@lumino/coreutils';
import type { Json } from '@xprof-nb/views';
import { Api } from '../api';
import { xprofIcon } from '../icon';
import { CommandIDs, PALETTE_CATEGORY, PluginIDs, TRANSLATION_DOMAIN } from '../tokens';
import { RunView } from './view';

type Translation = ReturnType<ITranslator['load']>;

export const runsPlugin: JupyterFrontEndPlugin<void> = {
  id: PluginIDs.runs,
  description: 'Opens runs by their path as documents.',
  autoStart: true,
  optional: [ILayoutRestorer, ICommandPalette, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    restorer: ILayoutRestorer | null,
    palette: ICommandPalette | null,
    translator: ITranslator | null
  ) => {
    const trans = (translator ?? nullTranslator).load(TRANSLATION_DOMAIN);
    addRuns(app, new Api(app.serviceManager.serverSettings), trans, restorer);
    palette?.addItem({ command: CommandIDs.openRun, category: PALETTE_CATEGORY });
  }
};

/** Runs by path, one document each. */
function addRuns(app: JupyterFrontEnd, api: Api, trans: Translation, restorer: ILayoutRestorer | null): void {
  const tracker = new WidgetTracker<MainAreaWidget<RunView>>({ namespace: 'xprof-nb-runs' });

  app.commands.addCommand(CommandIDs.openRun, {
    label: trans.__('Open XProf Run…'),
    caption: trans.__('Open all views of a run'),
    icon: xprofIcon,
    describedBy: {
      args: {
        type: 'object',
        properties: {
          path: {
            type: 'string',
            description: trans.__('Run folder, log dir or file; asked for when absent')
          },
          name: { type: 'string', description: trans.__('Title of the tab') },
          state: {
            type: 'object',
            description: trans.__('How the document is to stand: its view, and how each of them does')
          }
        }
      }
    },
    execute: async (args) => {
      const path = typeof args.path === 'string' && args.path ? args.path : await askForPath(trans);
      if (path === null) {
        return;
      }
      const name = typeof args.name === 'string' && args.name ? args.name : lastPart(path);
      const open = tracker.find((widget) => widget.content.run === path);
      const widget = open ?? runDocument(new RunView(api, path, trans), name);
      widget.content.restore(args.state as Json);
      if (open === undefined) {
        app.shell.add(widget, 'main', { type: 'XProf' });
        widget.content.stateChanged.connect(() => void tracker.save(widget));
        await tracker.add(widget);
      }
      app.shell.activateById(widget.id);
    }
  });

  void restorer?.restore(tracker, {
    command: CommandIDs.openRun,
    args: ({ content, title }) => ({
      path: content.run,
      name: title.label,
      state: content.state as JSONValue
    }),
    name: ({ content }) => content.run
  });
}

let documents = 0;

function runDocument(content: RunView, name: string): MainAreaWidget<RunView> {
  const widget = new MainAreaWidget({ content });
  widget.id = `xprof-nb-run-document-${documents++}`;
  widget.title.label = name;
  widget.title.caption = content.run;
  widget.title.icon = xprofIcon;
  widget.title.closable = true;
  return widget;
}

async function askForPath(trans: Translation): Promise<string | null> {
  const { value } = await InputDialog.getText({
    title: trans.__('Open XProf Run'),
    label: trans.__('Run folder, log dir or file, below the roots of the server'),
    okLabel: trans.__('Open')
  });
  return value?.trim() || null;
}

function lastPart(path: string): string {
  return path.replace(/\/+$/, '').split('/').pop() || path;
}
