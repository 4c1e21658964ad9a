/** What the panel says when there is no run: how to make one. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { element } from '../dom';

const LOAD = '%load_ext xprof_nb';
const CAPTURE = '%xprof capture 3s';

/** Teaches the two lines that fill the panel, and says where was looked. */
export function emptyState(roots: readonly string[], trans: TranslationBundle): HTMLElement {
  const box = element(
    'div',
    'jp-XprofPanel-empty',
    element('p', '', element('strong', '', trans.__('No profiles yet'))),
    element('p', '', trans.__('Capture one from a notebook that is running your JAX program:')),
    element('pre', '', `${LOAD}\n${CAPTURE}`),
    element('p', '', trans.__('It is listed here when the capture ends.'))
  );
  if (roots.length > 0) {
    box.append(
      element('p', 'jp-mod-faint', trans.__('Searched:')),
      element('ul', 'jp-mod-faint', ...roots.map((root) => element('li', '', root)))
    );
  }
  return box;
}
