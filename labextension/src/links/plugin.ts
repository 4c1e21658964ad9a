/** The plugin of links: copies the address of a run, and opens what an address asks for. */
import { IRouter, type JupyterFrontEnd, type JupyterFrontEndPlugin } from '@jupyterlab/application';
import { Clipboard, Notification } from '@jupyterlab/apputils';
import { PageConfig, URLExt } from '@jupyterlab/coreutils';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { linkIcon } from '@jupyterlab/ui-components';
import { text } from '@xprof-nb/views';
import { CommandIDs, PluginIDs, TRANSLATION_DOMAIN } from '../tokens';
import { decodeLink, encodeLink, linkIn, PARAMETER } from './link';

const HAS_LINK = new RegExp(`[?&]${PARAMETER}=`);

export const linksPlugin: JupyterFrontEndPlugin<void> = {
  id: PluginIDs.links,
  description: 'Copies addresses that lead to a run, and opens what they lead to.',
  autoStart: true,
  optional: [IRouter, ITranslator],
  activate: (app: JupyterFrontEnd, router: IRouter | null, translator: ITranslator | null) => {
    const trans = (translator ?? nullTranslator).load(TRANSLATION_DOMAIN);
    app.commands.addCommand(CommandIDs.copyLink, {
      label: trans.__('Copy Link'),
      caption: trans.__('Copy the address that opens this run'),
      icon: linkIcon,
      describedBy: {
        args: {
          type: 'object',
          properties: {
            path: { type: 'string', description: trans.__('Path of the run') },
            name: { type: 'string', description: trans.__('Title of its tab') },
            state: { type: 'object', description: trans.__('How its document is to stand') }
          },
          required: ['path']
        }
      },
      isEnabled: ({ path }) => text(path) !== '',
      execute: ({ path, name, state }) => {
        const link = encodeLink({ path: text(path), name: text(name), state: state ?? null });
        Clipboard.copyToSystem(`${labUrl()}?${PARAMETER}=${link}`);
      }
    });
    if (router !== null) {
      followLinks(
        app,
        router,
        trans.__('The link does not lead to a run. It may have been cut: copy it again.')
      );
    }
  }
};

/** Open what the address asks for, once, when the rest of the page is there. */
function followLinks(app: JupyterFrontEnd, router: IRouter, refusal: string): void {
  app.commands.addCommand(CommandIDs.followLink, {
    describedBy: { args: { type: 'object', properties: { search: { type: 'string' } } } },
    execute: ({ path, search, hash }) => {
      const target = decodeLink(linkIn(text(search)) ?? '');
      const query = URLExt.queryStringToObject(text(search));
      delete query[PARAMETER];
      router.navigate(text(path) + URLExt.objectToQueryString(query) + text(hash), { skipRouting: true });
      void app.restored.then(() =>
        target === null
          ? Notification.warning(refusal, { autoClose: false })
          : app.commands.execute(CommandIDs.openRun, { ...target })
      );
    }
  });
  router.register({ command: CommandIDs.followLink, pattern: HAS_LINK });
}

/** The page that a link opens in: not this workspace, and not the document that is open in it. */
function labUrl(): string {
  return PageConfig.getUrl({ toShare: true, workspace: PageConfig.defaultWorkspace, treePath: '' });
}
