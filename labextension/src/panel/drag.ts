/** Dragging runs into a notebook, where they become a code cell that opens them. */
import { MimeData } from '@lumino/coreutils';
import { Drag } from '@lumino/dragdrop';
import { cellOf } from './code';

/** What notebooks take. */
const CELLS_MIME = 'application/vnd.jupyter.cells';
/** What text editors take. */
const TEXT_MIME = 'text/plain';

/** Begin to drag code, with a picture of the row under the pointer. */
export function startDrag(code: string, row: HTMLElement, { clientX, clientY }: PointerEvent): void {
  const dragImage = row.cloneNode(true) as HTMLElement;
  dragImage.removeAttribute('id');
  dragImage.classList.add('jp-mod-dragged');
  dragImage.style.top = '';
  dragImage.style.width = `${row.clientWidth}px`;
  const drag = new Drag({
    mimeData: dragged(code),
    dragImage,
    supportedActions: 'copy-move',
    proposedAction: 'copy',
    source: row
  });
  void drag.start(clientX, clientY).then(() => drag.dispose());
}

function dragged(code: string): MimeData {
  const data = new MimeData();
  data.setData(CELLS_MIME, [cellOf(code)]);
  data.setData(TEXT_MIME, code);
  return data;
}
