/** Building elements. Text always goes in as text: what a profile says is never markup. */

type Child = Node | string | null;

interface Options {
  readonly class?: string;
  readonly title?: string;
  readonly attrs?: Readonly<Record<string, string | number | boolean>>;
  readonly data?: Readonly<Record<string, string>>;
  readonly on?: Readonly<Record<string, (event: Event) => void>>;
}

/** An element with a class, attributes, listeners and children. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  options: Options = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (options.class) {
    element.className = options.class;
  }
  if (options.title) {
    element.title = options.title;
  }
  for (const [name, value] of Object.entries(options.attrs ?? {})) {
    element.setAttribute(name, String(value));
  }
  Object.assign(element.dataset, options.data);
  for (const [event, listener] of Object.entries(options.on ?? {})) {
    element.addEventListener(event, listener);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** A plain button with a label. */
export function button(label: string, options: Options & { readonly click: () => void }): HTMLButtonElement {
  const { click, ...rest } = options;
  const element = h('button', rest, label);
  element.type = 'button';
  element.addEventListener('click', click);
  return element;
}

/** Put a style sheet once into the page, or the shadow tree, an element lives in. */
export function adoptStyle(el: HTMLElement, css: string): void {
  const root = el.getRootNode();
  const home = root instanceof ShadowRoot ? root : document.head;
  const present = [...home.querySelectorAll('style[data-xprof-nb]')].some(
    (style) => style.textContent === css
  );
  if (!present) {
    home.append(h('style', { data: { xprofNb: '' } }, css));
  }
}

/** Whether the person has marked text in an element. */
export function hasMarkedText(el: HTMLElement): boolean {
  const selection = document.getSelection();
  return selection !== null && !selection.isCollapsed && el.contains(selection.anchorNode);
}
