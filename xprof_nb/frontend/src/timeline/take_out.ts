/** Taking the timeline out of the page: tables, pictures, the Python that makes them again. */

import { bytes } from '../format';
import { type Host, isAbort } from '../host';
import { liveHint } from '../hosts/static';
import { type Cells, toCsv, toTsv } from '../shell/delimited';
import { download, downloadText, fileName } from '../shell/save';
import type { Boxes } from './boxes';
import { FORMATS, fetchTrace, type TraceFormat } from './download';
import { rowsOnce } from './levels';
import type { Messages } from './messages';
import type { Painter } from './painter';
import type { Panes } from './panes';
import { type Picture, toPng, toSvg } from './picture';
import { savedTrace } from './saved_trace';
import { selectionCells } from './selection_pane';
import type { Span } from './span';
import type { Stage } from './stage';
import type { State } from './state';
import { pathOf } from './tracks';
import { windowText } from './words';

const LARGEST_PICTURE_PX = 8000;

export class TakeOut {
  private _task: AbortController | null = null;

  constructor(
    private readonly _host: Host,
    private readonly _state: State,
    private readonly _stage: Stage,
    private readonly _painter: Painter,
    private readonly _panes: Panes,
    private readonly _messages: Messages
  ) {}

  dispose(): void {
    this._task?.abort();
  }

  /** The table of the selection, or of what is on screen, for pasting. */
  get table(): string {
    return toTsv(this._cells());
  }

  csv(): void {
    downloadText(this._name('csv'), toCsv(this._cells()), 'text/csv');
  }

  async png(): Promise<void> {
    download(this._name('png'), await toPng(this._picture()));
  }

  svg(): void {
    downloadText(this._name('svg'), toSvg(this._picture()), 'image/svg+xml');
  }

  /** The Python that gives the table of the selection, or of what is on screen. */
  get python(): string {
    const { area } = this._state;
    const { start, end } = area?.span ?? this._painter.scale.span;
    const tracks = area === null ? '' : `, tracks=[${area.tracks.join(', ')}]`;
    return `${this._open}.selection(start_ps=${Math.round(start)}, end_ps=${Math.round(end)}${tracks}).frame`;
  }

  exportPython(format: TraceFormat): string {
    return format === 'chrome'
      ? `${this._open}.to_chrome_json("trace.json.gz")`
      : `${this._open}.to_perfetto("trace.pftrace.gz")`;
  }

  /** The run, or what of it is in the selected time, as a file for other viewers. */
  async trace(format: TraceFormat): Promise<void> {
    if (this._host.kind === 'static') {
      const { name, path } = this._host.snapshot.run;
      downloadText(this._name('json'), savedTrace(this._state, name, liveHint(path)), 'application/json');
      return;
    }
    this._task?.abort();
    const task = new AbortController();
    this._task = task;
    const what = `Writing the ${FORMATS[format]}`;
    const waiting = this._messages.wait(what, () => task.abort());
    const { area } = this._state;
    const box = area === null ? {} : { start_ps: area.span.start, end_ps: area.span.end };
    const progress = (part: number, parts: number) =>
      waiting.say(parts === 1 ? what : `${what}, part ${part + 1} of ${parts}`);
    try {
      const { content, extension } = await fetchTrace(this._host, format, box, progress, task.signal);
      download(this._name(extension), content);
      this._messages.say(`${this._name(extension)}: ${bytes(content.size)}.`);
    } catch (error) {
      if (isAbort(error)) {
        this._messages.say('Cancelled.');
      } else {
        this._messages.fail(error);
      }
    } finally {
      waiting.remove();
    }
  }

  private get _open(): string {
    return `import xprof_nb\nxprof_nb.open(${JSON.stringify(this._host.snapshot.run.path)}).trace()`;
  }

  private _cells(): Cells[] {
    const { answer } = this._panes;
    return answer === null
      ? boxCells(this._state, this._painter.scale.span, this._painter.scale.psPerPixel)
      : selectionCells(answer.table);
  }

  private _picture(): Picture {
    const { layout, bounds } = this._state;
    const { width, rulerHeight } = this._stage;
    const tracksHeight = Math.min(LARGEST_PICTURE_PX, Math.max(layout.height, 1));
    const { span } = this._painter.scale;
    const seen = layout.seen(0, tracksHeight);
    return {
      title: `${this._host.snapshot.run.name}: ${windowText(span, bounds)}`,
      width,
      axisHeight: rulerHeight,
      tracksHeight,
      seen,
      palette: this._painter.palette,
      paintAxis: (pen) => this._painter.paintRuler(pen),
      paintTracks: (pen) => this._painter.paintTracks(pen, tracksHeight, seen)
    };
  }

  private _name(extension: string): string {
    return fileName(`${this._host.snapshot.run.name} trace`, extension);
  }
}

/** What is drawn on screen, box by box. */
export function boxCells(state: State, span: Span, psPerPixel: number): Cells[] {
  const rows = state.shown.flatMap((track) =>
    rowsOnce(state.stretches(track.id, span, psPerPixel), track.id, span).map(({ boxes, row }) =>
      cellsOf(boxes, row, pathOf(track))
    )
  );
  return [
    ['track', 'lane', 'name', 'work_kind', 'start_ps', 'duration_ps', 'count', 'busy_fraction', 'value'],
    ...rows
  ];
}

function cellsOf(boxes: Boxes, row: number, track: string): Cells {
  const [start, end] = [boxes.start[row] ?? 0, boxes.end[row] ?? 0];
  const value = boxes.value?.[row] ?? Number.NaN;
  return [
    track,
    boxes.lane[row] ?? 0,
    boxes.name(row),
    boxes.kind(row),
    start,
    end - start,
    boxes.count(row),
    boxes.busyShare(row),
    value
  ];
}
