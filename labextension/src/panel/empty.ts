/** What the panel says when there is no run: how to make one. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { element } from '../dom';

const LINES = '%load_ext xprof_nb\n%xprof capture 3s';

/** Teaches the two lines that fill the panel, and says where was looked; `insert` puts them into a notebook. */
export function emptyState(
  roots: readonly string[],
  trans: TranslationBundle,
  insert: ((code: string) => void) | null
): HTMLElement {
  const box = element(
    'div',
    'jp-XprofPanel-empty',
    element('p', '', element('strong', '', trans.__('No profiles yet'))),
    element('p', '', trans.__('Capture one from a notebook that is running your JAX program:')),
    element('pre', '', LINES)
  );
  if (insert !== null) {
    const button = element('button', 'jp-XprofPanel-textButton', trans.__('Insert into a notebook'));
    button.type = 'button';
    button.title = trans.__('Insert these lines as a cell; you run it when your program runs');
    button.addEventListener('click', () => insert(LINES));
    box.append(button);
  }
  box.append(element('p', '', trans.__('It is listed here when the capture ends.')));
  if (roots.length > 0) {
    box.append(
      element('p', 'jp-mod-faint', trans.__('Searched:')),
      element('ul', 'jp-mod-faint', ...roots.map((root) => element('li', '', root)))
    );
  }
  return box;
}
