/** The plugin of profile documents: runs opened from the panel, and *.xplane.pb files. */
import { ILayoutRestorer, type JupyterFrontEnd, type JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette, InputDialog, MainAreaWidget, WidgetTracker } from '@jupyterlab/apputils';
import type { DocumentWidget } from '@jupyterlab/docregistry';
import { type Contents, IDefaultDrive } from '@jupyterlab/services';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import type { JSONValue } from '@lumino/coreutils';
import type { Json } from '@xprof-nb/views';
import { Api } from '../api';
import { xprofIcon } from '../icon';
import {
  CONTENT_PROVIDER,
  CommandIDs,
  FACTORY,
  FILE_TYPE,
  PALETTE_CATEGORY,
  PluginIDs,
  TRANSLATION_DOMAIN
} from '../tokens';
import { MetadataOnlyProvider } from './contents';
import { ProfileFactory } from './factory';
import { RunView } from './view';

type Translation = ReturnType<ITranslator['load']>;

export const documentPlugin: JupyterFrontEndPlugin<void> = {
  id: PluginIDs.document,
  description: 'Opens runs and *.xplane.pb files as documents.',
  autoStart: true,
  optional: [ILayoutRestorer, ICommandPalette, IDefaultDrive, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    restorer: ILayoutRestorer | null,
    palette: ICommandPalette | null,
    drive: Contents.IDrive | null,
    translator: ITranslator | null
  ) => {
    const trans = (translator ?? nullTranslator).load(TRANSLATION_DOMAIN);
    const api = new Api(app.serviceManager.serverSettings);
    addRuns(app, api, trans, restorer);
    palette?.addItem({ command: CommandIDs.openRun, category: PALETTE_CATEGORY });
    // Without its own content provider a profile would be pulled whole: then files are better left alone.
    if (drive?.contentProviderRegistry !== undefined) {
      const { serverSettings } = app.serviceManager;
      const provider = new MetadataOnlyProvider({ apiEndpoint: 'api/contents', serverSettings });
      drive.contentProviderRegistry.register(CONTENT_PROVIDER, provider);
      addFiles(app, api, trans, restorer);
    }
  }
};

/** Runs by path, one document each. */
function addRuns(app: JupyterFrontEnd, api: Api, trans: Translation, restorer: ILayoutRestorer | null): void {
  const tracker = new WidgetTracker<MainAreaWidget<RunView>>({ namespace: 'xprof-nb-runs' });

  app.commands.addCommand(CommandIDs.openRun, {
    label: trans.__('Open XProf Run…'),
    caption: trans.__('Open the op profile of a run'),
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

/** Files of the file browser. */
function addFiles(
  app: JupyterFrontEnd,
  api: Api,
  trans: Translation,
  restorer: ILayoutRestorer | null
): void {
  app.docRegistry.addFileType({
    name: FILE_TYPE,
    displayName: trans.__('XProf profile'),
    extensions: ['.xplane.pb'],
    mimeTypes: ['application/x-xplane'],
    fileFormat: 'base64',
    contentType: 'file',
    icon: xprofIcon
  });
  const tracker = new WidgetTracker<DocumentWidget<RunView>>({ namespace: 'xprof-nb-files' });
  const factory = new ProfileFactory(
    {
      name: FACTORY,
      label: trans.__('XProf'),
      modelName: 'base64',
      fileTypes: [FILE_TYPE],
      defaultFor: [FILE_TYPE],
      readOnly: true,
      contentProviderId: CONTENT_PROVIDER
    },
    api,
    trans
  );
  factory.widgetCreated.connect((_, widget) => {
    widget.content.stateChanged.connect(() => void tracker.save(widget));
    void tracker.add(widget);
  });
  app.docRegistry.addWidgetFactory(factory);
  app.commands.addCommand(CommandIDs.restoreFile, {
    label: trans.__('Open an XProf Profile as It Was'),
    describedBy: {
      args: { type: 'object', properties: { path: { type: 'string' }, state: { type: 'object' } } }
    },
    execute: async ({ path, state }) => {
      const open = { path, factory: FACTORY };
      const widget: DocumentWidget<RunView> | undefined = await app.commands.execute('docmanager:open', open);
      widget?.content.restore(state as Json);
      return widget;
    }
  });
  void restorer?.restore(tracker, {
    command: CommandIDs.restoreFile,
    args: ({ context, content }) => ({ path: context.path, state: content.state as JSONValue }),
    name: ({ context }) => context.path
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
