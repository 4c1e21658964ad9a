/** The plugin of profiles in the file browser: `*.xplane.pb`, `*.trace.json.gz` and `*.trace.json`. */
import { ILayoutRestorer, type JupyterFrontEnd, type JupyterFrontEndPlugin } from '@jupyterlab/application';
import { WidgetTracker } from '@jupyterlab/apputils';
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
  PluginIDs,
  PROFILE_ENDINGS,
  TRACE_ENDINGS,
  TRACE_FILE_TYPE,
  TRANSLATION_DOMAIN
} from '../tokens';
import { MetadataOnlyProvider } from './contents';
import { ProfileFactory } from './factory';
import type { RunView } from './view';

type Translation = ReturnType<ITranslator['load']>;

export const filesPlugin: JupyterFrontEndPlugin<void> = {
  id: PluginIDs.documents,
  description: 'Opens profiles and traces of the file browser as documents.',
  autoStart: true,
  optional: [ILayoutRestorer, IDefaultDrive, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    restorer: ILayoutRestorer | null,
    drive: Contents.IDrive | null,
    translator: ITranslator | null
  ) => {
    const trans = (translator ?? nullTranslator).load(TRANSLATION_DOMAIN);
    const { serverSettings } = app.serviceManager;
    // Without its own content provider a profile would be pulled whole: then files are better left alone.
    if (drive?.contentProviderRegistry !== undefined) {
      const provider = new MetadataOnlyProvider({ apiEndpoint: 'api/contents', serverSettings });
      drive.contentProviderRegistry.register(CONTENT_PROVIDER, provider);
      addFileTypes(app, trans);
      addFiles(app, new Api(serverSettings), trans, restorer);
    }
  }
};

function addFileTypes({ docRegistry }: JupyterFrontEnd, trans: Translation): void {
  const common = { fileFormat: 'base64', contentType: 'file', icon: xprofIcon } as const;
  docRegistry.addFileType({
    ...common,
    name: FILE_TYPE,
    displayName: trans.__('XProf profile'),
    extensions: [...PROFILE_ENDINGS],
    mimeTypes: ['application/x-xplane']
  });
  docRegistry.addFileType({
    ...common,
    name: TRACE_FILE_TYPE,
    displayName: trans.__('Profiler trace'),
    extensions: [...TRACE_ENDINGS],
    mimeTypes: ['application/x-trace-events']
  });
}

/** Files of the file browser. */
function addFiles(
  app: JupyterFrontEnd,
  api: Api,
  trans: Translation,
  restorer: ILayoutRestorer | null
): void {
  const tracker = new WidgetTracker<DocumentWidget<RunView>>({ namespace: 'xprof-nb-files' });
  const factory = new ProfileFactory(
    {
      name: FACTORY,
      label: trans.__('XProf'),
      modelName: 'base64',
      fileTypes: [FILE_TYPE, TRACE_FILE_TYPE],
      defaultFor: [FILE_TYPE, TRACE_FILE_TYPE],
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
