/** Putting code into a notebook: the one in use, else a new one. */
import { type INotebookTracker, NotebookActions, type NotebookPanel } from '@jupyterlab/notebook';
import type { CommandRegistry } from '@lumino/commands';
import { cellOf } from './code';

const NEW_NOTEBOOK = 'notebook:create-new';

export class CodeInserter {
  constructor(
    private readonly _notebooks: INotebookTracker | null,
    private readonly _commands: CommandRegistry,
    private readonly _activate: (id: string) => void
  ) {}

  /** Whether there is a notebook, or can be. */
  get isPossible(): boolean {
    return Boolean(this._notebooks?.currentWidget) || this._commands.hasCommand(NEW_NOTEBOOK);
  }

  /** Insert a cell below the active one and make it the active one; nothing is run. */
  async insert(code: string): Promise<void> {
    const panel = this._notebooks?.currentWidget ?? (await this._newNotebook());
    if (panel === null) {
      return;
    }
    await panel.context.ready;
    const { content } = panel;
    const active = content.activeCell?.model;
    if (active?.type === 'code' && active.sharedModel.source.trim() === '') {
      active.sharedModel.setSource(code);
    } else {
      const index = content.activeCell === null ? 0 : content.activeCellIndex + 1;
      content.model?.sharedModel.insertCell(index, cellOf(code));
      content.activeCellIndex = index;
      content.deselectAll();
    }
    this._activate(panel.id);
    NotebookActions.focusActiveCell(content);
  }

  private async _newNotebook(): Promise<NotebookPanel | null> {
    return this._commands.hasCommand(NEW_NOTEBOOK) ? this._commands.execute(NEW_NOTEBOOK) : null;
  }
}
