/** The button that puts columns of a table into sight and out of it. */
import { dropDown } from '../shell/menu';
import type { Grid } from './grid';

export function columnChooser(grid: Grid): HTMLElement {
  const title = 'Which columns the table shows; in its head, Alt and the arrow keys move one';
  return dropDown({ label: 'Columns', title }, () =>
    grid.columns.all.map((field) => ({
      label: field.label,
      hint: field.title,
      isChecked: () => grid.fields.includes(field),
      run: () => grid.toggle(field)
    }))
  );
}
