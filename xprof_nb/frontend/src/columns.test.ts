import { describe, expect, it } from 'vitest';
import { decode, decodeBase64, numberAt, stringAt } from './columns';
import { everyType } from './testing/fixtures';

const bytes = Uint8Array.from(atob(everyType.base64), (character) => character.charCodeAt(0));

describe('decode', () => {
  it('reads every column type that Python writes', () => {
    const table = decodeBase64(everyType.base64);
    const { values } = everyType;
    expect(table.rows).toBe(3);
    for (const name of ['f8', 'i4', 'i8', 'u1'] as const) {
      const read = [0, 1, 2].map((row) => numberAt(table, name, row));
      expect(read).toEqual(values[name].map((value) => value ?? Number.NaN));
    }
    for (const name of ['big', 'str'] as const) {
      expect([0, 1, 2].map((row) => stringAt(table, name, row))).toEqual(values[name]);
    }
  });

  it('reads the meta of the header', () => {
    expect(decode(bytes).meta).toEqual({ summary: { answer: 42 }, notes: ['one'] });
  });

  it('reads a view that starts at an odd byte of a larger buffer', () => {
    const larger = new Uint8Array(bytes.length + 3);
    larger.set(bytes, 3);
    const table = decode(new DataView(larger.buffer, 3));
    expect(numberAt(table, 'i4', 2)).toBe(2 ** 31 - 1);
  });

  it('gives missing for a column that is not there', () => {
    expect(numberAt(decode(bytes), 'none', 0)).toBeNaN();
    expect(stringAt(decode(bytes), 'none', 0)).toBeNull();
  });

  it.each([
    [0, /no header/],
    [20, /inside its header/],
    [bytes.length - 16, /ends inside its column/]
  ])('refuses bytes cut at %i', (length, message) => {
    expect(() => decode(bytes.slice(0, length))).toThrow(message);
  });

  it('refuses a version it does not know', () => {
    const text = new TextEncoder().encode('{"v":2,"rows":0,"meta":{},"columns":[]}');
    const data = new Uint8Array(4 + text.length);
    new DataView(data.buffer).setUint32(0, text.length, true);
    data.set(text, 4);
    expect(() => decode(data)).toThrow(/version 2/);
  });
});
