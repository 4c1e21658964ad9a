/** Taking the graph out of the page: a drawing, DOT, HLO text. */
import { stringAt } from '../columns';
import type { AnswerFrame } from '../shell/answer';
import type { MenuItem } from '../shell/menu';
import { downloadText, fileName } from '../shell/save';
import { dotOf, hloOf, svgOf } from './export';
import type { Where } from './model';
import type { Stage } from './stage';

export class TakeOut {
  constructor(
    private readonly _frame: AnswerFrame,
    private readonly _stage: Stage,
    private readonly _where: () => Where
  ) {}

  menu(): readonly MenuItem[] {
    const drawn = 'what is drawn';
    return [
      { label: 'Download SVG', hint: drawn, run: () => this._svg() },
      { label: 'Download DOT', hint: `${drawn}, for graphviz`, run: () => this._dot() },
      { label: 'Download HLO of the ops drawn', hint: drawn, run: () => this._hlo() },
      ...(this._frame.isLive
        ? [{ label: 'Download HLO of the program', hint: 'all its computations', run: () => this._program() }]
        : [])
    ];
  }

  private get _title(): string {
    const { program, center } = this._where();
    return `${center} of ${program}`;
  }

  private _name(extension: string): string {
    return fileName(`${this._frame.host.snapshot.run.name} ${this._title}`, extension);
  }

  private _svg(): void {
    const { drawing, scene } = this._stage;
    downloadText(this._name('svg'), svgOf(drawing, scene, this._title), 'image/svg+xml');
  }

  private _dot(): void {
    downloadText(this._name('dot'), dotOf(this._stage.scene, this._title), 'text/vnd.graphviz');
  }

  private _hlo(): void {
    downloadText(this._name('hlo'), hloOf(this._stage.scene), 'text/plain');
  }

  private _program(): void {
    const { program, program_id } = this._where();
    this._frame.run(`Writing ${program}`, async (signal) => {
      const { table, notes } = await this._frame.host.request('graph_text', { program: program_id }, signal);
      if (table.rows === 0) {
        throw new Error(notes.join(' '));
      }
      const lines = Array.from({ length: table.rows }, (_, row) => stringAt(table, 'line', row) ?? '');
      const name = fileName(`${this._frame.host.snapshot.run.name} ${program}`, 'hlo');
      downloadText(name, `${lines.join('\n')}\n`, 'text/plain');
    });
  }
}
