/** Tags as a person types them, and what that changes in several runs. */

/** Tags with commas between them, each once. */
export function readTags(typed: string): string[] {
  const tags = typed.split(',').map((tag) => tag.trim());
  return [...new Set(tags.filter(Boolean))];
}

/** The tags that all of these have. */
export function commonTags(runs: readonly { readonly tags: readonly string[] }[]): string[] {
  const [first, ...others] = runs;
  return (first?.tags ?? []).filter((tag) => others.every(({ tags }) => tags.includes(tag)));
}

/** The tags of one run after its common ones were edited: those it has alone stay. */
export function editedTags(
  own: readonly string[],
  common: readonly string[],
  edited: readonly string[]
): string[] {
  const stayed = own.filter((tag) => !common.includes(tag) || edited.includes(tag));
  return [...new Set([...stayed, ...edited])];
}
