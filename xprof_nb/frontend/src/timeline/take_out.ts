/** Taking the timeline out of the page: tables, pictures, the Python that makes them again. */
import type { Host } from '../host';
import { type Cells, toCsv, toTsv } from '../shell/delimited';
import { download, downloadText, fileName } from '../shell/save';
import type { Boxes } from './boxes';
import { overlap } from './levels';
import type { Painter } from './painter';
import type { Panes } from './panes';
import { type Picture, toPng, toSvg } from './picture';
import { selectionCells } from './selection_pane';
import type { Span } from './span';
import type { Stage } from './stage';
import type { State } from './state';
import { pathOf } from './tracks';
import { windowText } from './words';

const LARGEST_PICTURE_PX = 8000;

export class TakeOut {
  constructor(
    private readonly _host: Host,
    private readonly _state: State,
    private readonly _stage: Stage,
    private readonly _painter: Painter,
    private readonly _panes: Panes
  ) {}

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

  exportPython(format: 'chrome' | 'perfetto'): string {
    return format === 'chrome'
      ? `${this._open}.to_chrome_json("trace.json.gz")`
      : `${this._open}.to_perfetto("trace.pftrace")`;
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
    state.stretches(track.id, span, psPerPixel).flatMap((stretch) => {
      const found: Cells[] = [];
      for (const lane of stretch.boxes.lanes(track.id).values()) {
        for (let row = lane.from; row < lane.to; row++) {
          if (beginsIn(stretch.boxes, row, stretch.span, span)) {
            found.push(cellsOf(stretch.boxes, row, pathOf(track)));
          }
        }
      }
      return found;
    })
  );
  return [
    ['track', 'lane', 'name', 'work_kind', 'start_ps', 'duration_ps', 'count', 'busy_fraction', 'value'],
    ...rows
  ];
}

/** Whether a box is of this stretch: one that reaches over an edge is of the stretch it begins in, or of the first. */
function beginsIn(boxes: Boxes, row: number, stretch: Span, span: Span): boolean {
  const box = { start: boxes.start[row] ?? 0, end: boxes.end[row] ?? 0 };
  const isFirst = stretch.start === span.start && box.start < stretch.start;
  return overlap(box, stretch) && (isFirst || (box.start >= stretch.start && box.start < stretch.end));
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
