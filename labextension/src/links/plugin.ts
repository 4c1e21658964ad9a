/** The plugin of links to a run as it stands: copies them, and opens what the address of the page says. */
import { IRouter, type JupyterFrontEnd, type JupyterFrontEndPlugin } from '@jupyterlab/application';
import { Clipboard, ICommandPalette, Notification } from '@jupyterlab/apputils';
import { PageConfig } from '@jupyterlab/coreutils';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { linkIcon } from '@jupyterlab/ui-components';
import type { JSONObject } from '@lumino/coreutils';
import type { Widget } from '@lumino/widgets';
import { readState } from '@xprof-nb/views';
import { RunView } from '../document/view';
import { CommandIDs, PALETTE_CATEGORY, PluginIDs, TRANSLATION_DOMAIN } from '../tokens';
import { addressOf, codeIn, isBelowRoot, isFile, withoutCode } from './address';
import { decodeTarget, PARAMETER } from './code';

type Translation = ReturnType<ITranslator['load']>;

export const linksPlugin: JupyterFrontEndPlugin<void> = {
  id: PluginIDs.links,
  description: 'Copies and follows links that reproduce a run, its view and what is chosen in it.',
  autoStart: true,
  optional: [IRouter, ICommandPalette, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    router: IRouter | null,
    palette: ICommandPalette | null,
    translator: ITranslator | null
  ) => {
    const trans = (translator ?? nullTranslator).load(TRANSLATION_DOMAIN);
    addCopying(app, trans);
    palette?.addItem({ command: CommandIDs.copyLink, category: PALETTE_CATEGORY });
    if (router !== null) {
      addFollowing(app, router, trans);
    }
  }
};

function addCopying({ commands, shell }: JupyterFrontEnd, trans: Translation): void {
  commands.addCommand(CommandIDs.copyLink, {
    label: trans.__('Copy XProf Link'),
    caption: trans.__('Copy an address that opens this run as it stands: its view, and what is chosen in it'),
    icon: linkIcon,
    describedBy: {
      args: {
        type: 'object',
        properties: {
          path: { type: 'string', description: trans.__('Path of a run; the current document when absent') }
        }
      }
    },
    isEnabled: ({ path }) => typeof path === 'string' || viewIn(shell.currentWidget) !== null,
    execute: ({ path }) => {
      const view = viewIn(shell.currentWidget);
      const run = typeof path === 'string' ? path : view?.run;
      if (run === undefined) {
        return null;
      }
      const state = readState(typeof path === 'string' ? {} : view?.state);
      const address = addressOf({ run, state });
      Clipboard.copyToSystem(address);
      return address;
    }
  });
}

function addFollowing(app: JupyterFrontEnd, router: IRouter, trans: Translation): void {
  app.commands.addCommand(CommandIDs.openLink, {
    label: trans.__('Open an XProf Link'),
    describedBy: {
      args: {
        type: 'object',
        properties: { search: { type: 'string', description: trans.__('The query of an address') } }
      }
    },
    execute: async ({ search }) => {
      const query = String(search ?? '');
      const target = decodeTarget(codeIn(query) ?? '');
      // Before JupyterLab replaces it by the path of what is in front.
      const path = target?.run || PageConfig.getOption('treePath');
      await app.restored;
      // Reloaded later, the page stands as it was left, not as the link was.
      const { path: page, hash } = router.current;
      router.navigate(`${page}${withoutCode(router.current.search ?? '')}${hash ?? ''}`, {
        skipRouting: true
      });
      if (target === null) {
        const said = trans.__(
          'The XProf link is damaged, or of a newer xprof_nb. Nothing of it was followed.'
        );
        Notification.warning(said, { autoClose: false });
      } else if (path !== '') {
        await open(app, path, target.state as unknown as JSONObject);
      }
    }
  });
  router.register({ command: CommandIDs.openLink, pattern: new RegExp(`[?&]${PARAMETER}=`) });
}

/** Open a file as the file browser does where files are documents, else the run of the path. */
async function open({ commands }: JupyterFrontEnd, path: string, state: JSONObject): Promise<void> {
  const isDocument = isFile(path) && isBelowRoot(path) && commands.hasCommand(CommandIDs.restoreFile);
  const command = isDocument ? CommandIDs.restoreFile : CommandIDs.openRun;
  if (commands.hasCommand(command)) {
    await commands.execute(command, { path, state });
  }
}

/** The run of a document, null where a widget is none. */
function viewIn(widget: Widget | null): RunView | null {
  const content = (widget as { content?: unknown } | null)?.content;
  return content instanceof RunView ? content : null;
}
