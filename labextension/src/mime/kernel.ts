/** Whether the kernel of a notebook still has the widget of an output. */
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { record, text } from '@xprof-nb/views';
import type { Surroundings } from './renderer';

export const WIDGET_MIME = 'application/vnd.jupyter.widget-view+json';

const COMM_TARGET = 'jupyter.widget';
const ANSWERS_WITHIN_MS = 3_000;

/** The widget's model id of an output that may run code; null when there is none. */
export function widgetId(model: IRenderMime.IMimeModel): string | null {
  return model.trusted ? text(record(model.data[WIDGET_MIME]).model_id) || null : null;
}

/** Whether the kernel knows the widget; a kernel that is busy for long counts as not knowing. */
export async function hasLiveWidget({ sessionContext }: Surroundings, id: string): Promise<boolean> {
  // After a reload the notebook is drawn before it is connected again.
  await Promise.race([sessionContext.ready, after(ANSWERS_WITHIN_MS)]);
  const kernel = sessionContext.session?.kernel;
  if (!kernel) {
    return false;
  }
  if (kernel.hasComm(id)) {
    return true;
  }
  const answer = kernel.requestCommInfo({ target_name: COMM_TARGET }).then(
    ({ content }) => content.status === 'ok' && id in content.comms,
    () => false
  );
  return Promise.race([answer, after(ANSWERS_WITHIN_MS)]);
}

function after(milliseconds: number): Promise<false> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(false), milliseconds);
  });
}
