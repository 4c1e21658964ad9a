/** The wire codec of tables: the mirror of `xprof_nb/model/columns.py`, which describes the layout. */

export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json | undefined };

/** A column of numbers; NaN is missing. */
export type Numbers = Float64Array | Int32Array | Uint8Array;

/** A column of strings: codes into a dictionary, -1 is missing. */
export interface Strings {
  readonly codes: Int32Array;
  readonly values: readonly string[];
}

export interface Columns {
  readonly rows: number;
  /** The columns in order. */
  readonly names: readonly string[];
  readonly meta: { readonly [key: string]: Json | undefined };
  readonly numbers: ReadonlyMap<string, Numbers>;
  readonly strings: ReadonlyMap<string, Strings>;
}

const VERSION = 1;

interface ColumnHeader {
  name: string;
  dtype: string;
  offset: number;
  length: number;
  values?: string[];
}

interface Header {
  v: number;
  rows: number;
  meta: { [key: string]: Json };
  columns: ColumnHeader[];
}

/** Decode the bytes of `model.columns.encode`; throws an `Error` that says what is wrong with them. */
export function decode(data: ArrayBuffer | ArrayBufferView): Columns {
  const bytes = data instanceof ArrayBuffer ? new Uint8Array(data) : viewOf(data);
  const { header, start } = readHeader(bytes);
  const numbers = new Map<string, Numbers>();
  const strings = new Map<string, Strings>();
  for (const column of header.columns) {
    const block = slice(bytes, start + column.offset, column);
    switch (column.dtype) {
      case 'f8':
        numbers.set(column.name, sized(new Float64Array(block), header.rows, column));
        break;
      case 'i4':
        numbers.set(column.name, sized(new Int32Array(block), header.rows, column));
        break;
      case 'u1':
        numbers.set(column.name, sized(new Uint8Array(block), header.rows, column));
        break;
      case 'str':
        strings.set(column.name, {
          codes: sized(new Int32Array(block), header.rows, column),
          values: column.values ?? []
        });
        break;
      default:
        throw new Error(`column ${column.name} has the unknown type ${column.dtype}`);
    }
  }
  const names = header.columns.map(({ name }) => name);
  return { rows: header.rows, names, meta: header.meta, numbers, strings };
}

/** Decode a table that travels inside JSON. */
export function decodeBase64(text: string): Columns {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) {
    bytes[i] = binary.charCodeAt(i);
  }
  return decode(bytes);
}

/** The number at a row; NaN when it or its column is missing. */
export function numberAt(table: Columns, name: string, row: number): number {
  return table.numbers.get(name)?.[row] ?? Number.NaN;
}

/** The string at a row; null when it or its column is missing. */
export function stringAt(table: Columns, name: string, row: number): string | null {
  const column = table.strings.get(name);
  return column?.values[column.codes[row] ?? -1] ?? null;
}

/** A table of rows given as objects; what one leaves out is missing. */
export function columnsOf(rows: readonly { readonly [name: string]: Json | undefined }[]): Columns {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const numbers = new Map<string, Numbers>();
  const strings = new Map<string, Strings>();
  for (const name of names) {
    const cells = rows.map((row) => row[name] ?? null);
    if (cells.some((cell) => typeof cell === 'string')) {
      strings.set(name, {
        codes: Int32Array.from(cells, (cell, index) => (cell === null ? -1 : index)),
        values: cells.map((cell) => String(cell ?? ''))
      });
    } else {
      numbers.set(
        name,
        Float64Array.from(cells, (cell) => (cell === null ? Number.NaN : Number(cell)))
      );
    }
  }
  return { rows: rows.length, names, meta: {}, numbers, strings };
}

function viewOf(data: ArrayBufferView): Uint8Array {
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}

function readHeader(bytes: Uint8Array): { header: Header; start: number } {
  if (bytes.byteLength < 4) {
    throw new Error(`a table of ${bytes.byteLength} bytes has no header`);
  }
  const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  if (4 + size > bytes.byteLength) {
    throw new Error(`a table of ${bytes.byteLength} bytes ends inside its header of ${size}`);
  }
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size))) as Header;
  if (header.v !== VERSION) {
    throw new Error(`table of version ${header.v}, this reader knows ${VERSION}`);
  }
  return { header, start: 4 + size };
}

// A copy, because a comm's buffer need not start at a multiple of the item size.
function slice(bytes: Uint8Array, begin: number, column: ColumnHeader): ArrayBuffer {
  if (begin + column.length > bytes.byteLength) {
    throw new Error(`the table ends inside its column ${column.name}`);
  }
  return bytes.slice(begin, begin + column.length).buffer as ArrayBuffer;
}

function sized<T extends Numbers>(values: T, rows: number, column: ColumnHeader): T {
  if (values.length !== rows) {
    throw new Error(`column ${column.name} has ${values.length} rows of ${rows}`);
  }
  return values;
}
