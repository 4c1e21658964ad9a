/** Tables as text, for spreadsheets. */

export type Cells = readonly (string | number | null)[];

/** Tab-separated rows for pasting. */
export function toTsv(rows: readonly Cells[]): string {
  return lines(rows, '\t', (text) => guarded(text).replace(/[\t\r\n]+/g, ' '));
}

/** Comma-separated rows, RFC 4180. */
export function toCsv(rows: readonly Cells[]): string {
  return lines(rows, ',', (text) => {
    const safe = guarded(text);
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  });
}

function lines(rows: readonly Cells[], separator: string, quote: (text: string) => string): string {
  const write = (cell: string | number | null) => {
    if (typeof cell === 'number') {
      return Number.isNaN(cell) ? '' : String(cell);
    }
    return quote(cell ?? '');
  };
  return `${rows.map((row) => row.map(write).join(separator)).join('\r\n')}\r\n`;
}

// A spreadsheet would run a cell that begins like this as a formula.
function guarded(text: string): string {
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}
