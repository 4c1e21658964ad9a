/** What the menu of the op profile offers. */
import type { MenuItem } from '../shell/menu';
import { copyText, downloadText, fileName } from '../shell/save';
import { toCsv, toTsv } from './save';
import type { Session } from './session';

export interface MenuEvents {
  said(words: string): void;
  failed(error: unknown): void;
  help(): void;
}

export function menuItems(session: Session, { said, failed, help }: MenuEvents): MenuItem[] {
  const { run } = session;
  const rows = 'every row loaded, full precision';
  const copy = (text: string) => copyText(text).then(() => said('Copied.'), failed);
  const python = () =>
    `import xprof_nb\nxprof_nb.open(${JSON.stringify(run.path)}).op_profile(by="${session.current.by}").frame`;
  return [
    { label: 'Copy table (TSV)', hint: rows, run: () => void copy(toTsv(session.current.tree)) },
    {
      label: 'Download CSV',
      hint: rows,
      run: () =>
        downloadText(fileName(`${run.name} op profile`, 'csv'), toCsv(session.current.tree), 'text/csv')
    },
    { label: 'Copy Python for the DataFrame', run: () => void copy(python()) },
    { label: 'Keys (?)', run: help }
  ];
}
