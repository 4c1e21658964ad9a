/** Light or dark: follows JupyterLab's theme, else the system's, at once. */

export type Theme = 'light' | 'dark';

/** The theme of the page now. */
export function currentTheme(): Theme {
  const lab = document.body.dataset.jpThemeLight;
  if (lab !== undefined) {
    return lab === 'false' ? 'dark' : 'light';
  }
  return systemIsDark()?.matches ? 'dark' : 'light';
}

/** Keep `data-theme` of an element equal to the page's theme, and tell of each change; returns how to stop. */
export function followTheme(el: HTMLElement, changed: () => void = () => {}): () => void {
  const apply = () => {
    el.dataset.theme = currentTheme();
    changed();
  };
  const observer = new MutationObserver(apply);
  observer.observe(document.body, {
    attributes: true,
    attributeFilter: ['data-jp-theme-light', 'data-jp-theme-name']
  });
  const system = systemIsDark();
  system?.addEventListener('change', apply);
  apply();
  return () => {
    observer.disconnect();
    system?.removeEventListener('change', apply);
  };
}

function systemIsDark(): MediaQueryList | undefined {
  return window.matchMedia?.('(prefers-color-scheme: dark)');
}
