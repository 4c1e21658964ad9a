/** The kinds of work: one colour, one shape and one word each, the same in every view. */

export interface Kind {
  /** The name on the wire, and of the CSS variable `--xprof-kind-<id>`. */
  readonly id: string;
  readonly label: string;
  /** A shape, so that a kind is never told by colour alone. */
  readonly shape: string;
  readonly what: string;
}

export const KINDS: readonly Kind[] = [
  { id: 'matrix', label: 'matrix', shape: '■', what: 'dot, convolution and the fusions around them' },
  {
    id: 'elementwise',
    label: 'elementwise',
    shape: '●',
    what: 'loop fusions, reductions, elementwise operations'
  },
  {
    id: 'data',
    label: 'data movement',
    shape: '◆',
    what: 'copy, transpose, reshape, slice, gather, scatter, DMA'
  },
  {
    id: 'collective',
    label: 'collective',
    shape: '▲',
    what: 'all-reduce, all-gather, all-to-all, permute, send, receive'
  },
  { id: 'custom', label: 'custom kernel', shape: '★', what: 'Pallas, Triton, cuDNN and NKI custom calls' },
  { id: 'host', label: 'host', shape: '▼', what: 'infeed, outfeed, offload, host transfers, dispatch' },
  { id: 'control', label: 'control, other', shape: '○', what: 'while, call, unknown' },
  { id: 'idle', label: 'idle', shape: '▨', what: 'nothing ran' }
];

const BY_ID = new Map(KINDS.map((kind) => [kind.id, kind]));
const OTHER = BY_ID.get('control') as Kind;

/** The kind of a `work_kind` cell; unknown names, and rows of several kinds, are "control, other". */
export function kindOf(id: string | null): Kind {
  return BY_ID.get(id ?? '') ?? OTHER;
}

const LIGHTNESS_STEPS = 5;

/** How much of the kind's own colour a name keeps, 76..100 %: names differ a little inside their kind. */
export function shade(name: string): number {
  let hash = 0;
  for (let i = 0; i < name.length; i++) {
    hash = (hash * 31 + name.charCodeAt(i)) >>> 0;
  }
  return 100 - (hash % LIGHTNESS_STEPS) * 6;
}
