/** How the panel stands, kept over a reload of the page. */
import type { IStateDB } from '@jupyterlab/statedb';
import { record, text, texts } from '@xprof-nb/views';
import { ORDERS, type Order } from './sort';

/** What is kept of open and closed rows: a long life has many runs. */
const MOST_ROWS = 500;

export interface Standing {
  readonly order: Order;
  /** Log dirs that are closed and runs that are open. */
  readonly toggled: readonly string[];
}

/** Go on as the panel stood before, and keep from then on how it stands. */
export async function keepStanding(
  state: IStateDB,
  id: string,
  panel: { standing: Standing; onStanding: (listener: () => void) => void }
): Promise<void> {
  const before = await state.fetch(id).catch(() => undefined);
  if (before !== undefined) {
    panel.standing = readStanding(before);
  }
  panel.onStanding(() => {
    const { order, toggled } = panel.standing;
    void state.save(id, { order, toggled: toggled.slice(-MOST_ROWS) });
  });
}

/** What of a kept value is a standing. */
export function readStanding(value: unknown): Standing {
  const { order, toggled } = record(value);
  return { order: ORDERS.find((each) => each === text(order)) ?? ORDERS[0], toggled: texts(toggled) };
}
