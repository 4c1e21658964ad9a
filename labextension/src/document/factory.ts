/** Opens profiles and traces of the file browser. */
import { ABCWidgetFactory, type DocumentRegistry, DocumentWidget } from '@jupyterlab/docregistry';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { Api } from '../api';
import { xprofIcon } from '../icon';
import { RunView } from './view';

export class ProfileFactory extends ABCWidgetFactory<DocumentWidget<RunView>> {
  constructor(
    options: DocumentRegistry.IWidgetFactoryOptions<DocumentWidget<RunView>>,
    private readonly _api: Api,
    private readonly _trans: TranslationBundle
  ) {
    super(options);
  }

  protected override createNewWidget(context: DocumentRegistry.Context): DocumentWidget<RunView> {
    const content = new RunView(this._api, context.localPath, this._trans);
    const widget = new DocumentWidget({ content, context });
    widget.title.icon = xprofIcon;
    // It would only say that the file is read-only.
    widget.toolbar.hide();
    return widget;
  }
}
