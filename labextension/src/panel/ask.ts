/** What the panel asks a person before it changes a run; null when the answer is not to. */
import { Dialog, InputDialog, showDialog } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';
import { element } from '../dom';
import type { RunEntry } from '../runs_api';
import { readTags } from './tags';

const LONGEST_NOTE = 10_000;
const MOST_OFFERED = 500;

export async function askName(run: RunEntry, trans: TranslationBundle): Promise<string | null> {
  const { button, value } = await InputDialog.getText({
    title: trans.__('Rename Run'),
    label: trans.__('Name'),
    text: run.run,
    okLabel: trans.__('Rename')
  });
  const name = value?.trim() ?? '';
  return button.accept && name !== '' && name !== run.run ? name : null;
}

export async function askNote(run: RunEntry, trans: TranslationBundle): Promise<string | null> {
  const { button, value } = await showDialog({
    title: trans.__('Note of %1', run.run),
    body: new NoteEditor(run.note, trans),
    buttons: [
      Dialog.cancelButton({ label: trans.__('Cancel') }),
      Dialog.okButton({ label: trans.__('Save') })
    ],
    focusNodeSelector: 'textarea'
  });
  return button.accept && value !== null && value !== run.note ? value : null;
}

export async function askTags(
  common: readonly string[],
  count: number,
  trans: TranslationBundle
): Promise<string[] | null> {
  const { button, value } = await InputDialog.getText({
    title: trans._n('Tags of the Run', 'Tags of %1 Runs', count),
    label: trans.__('Separated by commas'),
    text: common.join(', '),
    okLabel: trans.__('Save')
  });
  return button.accept && value !== null ? readTags(value) : null;
}

/** Which of these runs another one is to be compared with. */
export async function askOther(
  run: RunEntry,
  others: readonly RunEntry[],
  trans: TranslationBundle
): Promise<RunEntry | null> {
  const offered = others.slice(0, MOST_OFFERED);
  const names = offered.map((other, index) => `${index + 1}. ${other.run} (${other.logdir})`);
  const { button, value } = await InputDialog.getItem({
    title: trans.__('Compare %1 With', run.run),
    label: trans.__('Run'),
    items: names,
    okLabel: trans.__('Compare')
  });
  return button.accept && value !== null ? (offered[names.indexOf(value)] ?? null) : null;
}

class NoteEditor extends Widget implements Dialog.IBodyWidget<string> {
  private readonly _text = element('textarea', 'jp-XprofPanel-noteEditor');

  constructor(note: string, trans: TranslationBundle) {
    super();
    this._text.value = note;
    this._text.rows = 6;
    this._text.maxLength = LONGEST_NOTE;
    this._text.setAttribute('aria-label', trans.__('Note'));
    // Enter would press the button of the dialog.
    this._text.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && !event.ctrlKey && !event.metaKey) {
        event.stopPropagation();
      }
    });
    this.node.append(this._text);
  }

  getValue(): string {
    return this._text.value.trim();
  }
}
