/** Whether page and server belong together: after an upgrade the page may be the older one. */
import type { TranslationBundle } from '@jupyterlab/translation';
import type { Api } from './api';
import { VERSION } from './tokens';

/** What to tell the person, or null when the versions agree or the server does not say. */
export async function versionWarning(api: Api, trans: TranslationBundle): Promise<string | null> {
  const version = await api.version().catch(() => '');
  if (version === '' || version === VERSION) {
    return null;
  }
  return trans.__(
    'The server runs xprof_nb %1, this page %2. Restart JupyterLab and reload the page.',
    version,
    VERSION
  );
}
