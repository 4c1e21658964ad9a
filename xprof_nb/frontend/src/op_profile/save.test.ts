import { describe, expect, it } from 'vitest';
import { fileName } from '../shell/save';
import { rowsTable, table } from '../testing/fixtures';
import { OpTree } from '../tree/tree';
import { toCsv, toTsv } from './save';

describe('toCsv', () => {
  it('writes every loaded row with full precision', () => {
    const lines = toCsv(new OpTree(table())).trimEnd().split('\r\n');
    expect(lines).toHaveLength(table().rows + 1);
    expect(lines[0]?.split(',').slice(0, 3)).toEqual(['depth', 'kind', 'name']);
    expect(lines.find((line) => line.startsWith('3,op,dot.14,'))).toContain(
      String(0.231 * 2_480_000_000_000)
    );
  });

  it('quotes, and does not let a spreadsheet run a name', () => {
    const rows = [{ node: 0, parent: -1, key: 'a', name: '=HYPERLINK("http://x","y")', kind: 'op' }];
    expect(toCsv(new OpTree(rowsTable(rows)))).toContain(`"'=HYPERLINK(""http://x"",""y"")"`);
  });
});

describe('toTsv', () => {
  it('keeps one row on one line', () => {
    const rows = [{ node: 0, parent: -1, key: 'a', name: 'one\ttwo\nthree', kind: 'op' }];
    expect(toTsv(new OpTree(rowsTable(rows)))).toContain('one two three');
  });
});

describe('fileName', () => {
  it('leaves nothing a file system refuses', () => {
    expect(fileName('../a b:c/é', 'csv')).toBe('a-b-c-é.csv');
    expect(fileName('///', 'csv')).toBe('profile.csv');
  });
});
