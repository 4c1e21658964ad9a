/** What is typed above the runs: words that all have to be found, some of them in one field only. */
import type { RunEntry } from '../runs_api';

type Fields = Readonly<Record<string, (run: RunEntry) => readonly string[]>>;

/** By what is written before the colon. */
const FIELDS: Fields = {
  name: (run) => [run.run],
  tag: (run) => run.tags,
  note: (run) => [run.note],
  device: (run) => [run.device],
  origin: (run) => [run.origin],
  host: (run) => run.hosts,
  dir: (run) => [run.logdir]
};
/** `tag:"long words"`, `"long words"`, `tag:word`, `word`; `tag:` while it is being typed. */
const TERM = /(?:([a-z]+):)?(?:"([^"]*)"?|(\S+)|(?<=:))/gi;

/** Says of a run whether a search finds it; a word before a colon that names no field is part of what is searched. */
export function searched(query: string): (run: RunEntry) => boolean {
  const terms = [...query.toLowerCase().matchAll(TERM)].map(([whole, name = '', quoted, word]) => {
    const field = Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined;
    return { field: field ?? anywhere, wanted: field === undefined && name ? whole : (quoted ?? word ?? '') };
  });
  return (run) =>
    terms.every(({ field, wanted }) => field(run).some((value) => value.toLowerCase().includes(wanted)));
}

/** A search for the runs with a tag. */
export function tagSearch(tag: string): string {
  return `tag:${/[\s"]/.test(tag) ? `"${tag.replaceAll('"', '')}"` : tag}`;
}

function anywhere(run: RunEntry): readonly string[] {
  return Object.values(FIELDS).flatMap((values) => values(run));
}
