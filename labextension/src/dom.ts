/** Building elements from text; what a profile or a path says is never markup. */

/** An element with a class and children. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  className: string,
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  node.className = className;
  node.append(...children);
  return node;
}

/** Make these the children of a node, those that are already there untouched. */
export function setChildren(parent: Element, wanted: readonly Element[]): void {
  const staying = new Set(wanted);
  for (const child of [...parent.children]) {
    if (!staying.has(child)) {
      child.remove();
    }
  }
  wanted.forEach((child, index) => {
    if (parent.children[index] !== child) {
      parent.insertBefore(child, parent.children[index] ?? null);
    }
  });
}
