/** The lines that do in a notebook what the panel does. */
import type { RunEntry } from '../runs_api';

const IMPORT = 'import xprof_nb as xp';

/** Opens runs, one line each. */
export function openCode(runs: readonly RunEntry[]): string {
  return [IMPORT, '', ...runs.map(opened)].join('\n');
}

/** Compares two runs. */
export function compareCode(before: RunEntry, after: RunEntry): string {
  return [IMPORT, '', `xp.compare(${opened(before)}, ${opened(after)})`].join('\n');
}

/** A code cell as a notebook file has it. */
export function cellOf(source: string): {
  cell_type: 'code';
  source: string;
  metadata: Record<string, never>;
} {
  return { cell_type: 'code', source, metadata: {} };
}

function opened({ path }: RunEntry): string {
  return `xp.open(${pythonString(path)})`;
}

/** A literal of a string; JSON's are Python's too. */
function pythonString(value: string): string {
  return JSON.stringify(value);
}
