/** What the time of a step goes to: the parts of the input pipeline's table, how each is called and drawn. */
import { h } from '../dom';

export interface Part {
  /** Without the `_ps` of its column. */
  readonly id: string;
  readonly label: string;
  /** The kind of work whose colour it has. */
  readonly kind: string;
  /** How much of that colour: several parts share a kind. */
  readonly alpha: number;
  /** BokehJS's name of its pattern: a part is never told by colour alone. */
  readonly hatch: Hatch;
  readonly place: 'device' | 'host' | 'idle';
}

type Hatch = ' ' | '/' | '\\' | '-' | '|' | 'x' | '.';

/** In the order in which a moment is counted: it belongs to the first that applies. */
export const PARTS: readonly Part[] = [
  part('compute', 'compute', 'matrix', 1, ' ', 'device'),
  part('collective', 'exposed collectives', 'collective', 1, ' ', 'device'),
  part('device_copy', 'copies on the device', 'data', 1, ' ', 'device'),
  part('host_offload', 'host offload', 'host', 1, ' ', 'device'),
  part('infeed', 'infeed', 'host', 0.75, '-', 'device'),
  part('outfeed', 'outfeed', 'host', 0.75, '|', 'device'),
  part('compile', 'compilation', 'control', 1, 'x', 'host'),
  part('host_input', 'input pipeline of the host', 'host', 0.5, '/', 'host'),
  part('host_to_device', 'sending to the device', 'host', 0.5, '\\', 'host'),
  part('device_to_host', 'fetching from the device', 'host', 0.5, 'x', 'host'),
  part('launch', 'launching', 'host', 0.5, '.', 'host'),
  part('host_wait', 'host waits: latency', 'control', 0.6, '.', 'host'),
  part('host_other', 'Python and other host work', 'control', 0.6, ' ', 'host'),
  part('idle', 'idle', 'idle', 1, '/', 'idle')
];

/** Where nothing says more than that ops ran. */
export const BUSY: Part = part('busy', 'busy', 'matrix', 1, ' ', 'device');

const BY_ID = new Map([...PARTS, BUSY].map((each) => [each.id, each]));

export function partOf(id: string): Part | undefined {
  return BY_ID.get(id);
}

/** A part's colour and pattern, for legends and bars that are no charts. */
export function swatch({ id }: Part): HTMLElement {
  return h('span', { class: 'jp-XprofPart', attrs: { 'aria-hidden': true }, data: { part: id } });
}

function part(
  id: string,
  label: string,
  kind: string,
  alpha: number,
  hatch: Hatch,
  place: Part['place']
): Part {
  return { id, label, kind, alpha, hatch, place };
}
