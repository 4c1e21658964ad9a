import { describe, expect, it } from 'vitest';
import { errorOf, readPayload } from './payload';
import { payload } from './testing/fixtures';

describe('readPayload', () => {
  it('reads what Python saved', () => {
    const snapshot = readPayload(payload);
    expect(snapshot.view).toBe('op_profile');
    expect(snapshot.run.devices).toEqual(['CPU:0']);
    expect(snapshot.table.rows).toBeGreaterThan(20);
    expect(Object.keys(snapshot.details)).toEqual(['1/exponential_reduce_fusion']);
  });

  it.each([
    [null, /not a saved XProf view/],
    ['text', /not a saved XProf view/],
    [{ version: 2 }, /newer xprof_nb/],
    [{ ...payload, table: '!' }, /table is damaged/],
    [{ ...payload, table: 'AAAA' }, /table is damaged/],
    [{ ...payload, table: 'A'.repeat(9_000_000) }, /larger than/]
  ])('says why it cannot show %#', (value, message) => {
    expect(() => readPayload(value)).toThrow(message);
  });

  it('takes fields of a wrong type as absent', () => {
    const snapshot = readPayload({ ...payload, run: ['x'], notes: [1, 'kept'], details: 7, summary: null });
    expect(snapshot.run.name).toBe('');
    expect(snapshot.notes).toEqual(['kept']);
    expect(snapshot.details).toEqual({});
    expect(snapshot.summary).toEqual({});
  });
});

describe('errorOf', () => {
  it('keeps what happened and what to do', () => {
    const error = errorOf({ kind: 'UsageError', message: 'no such query', hint: 'Known: ops.' });
    expect([error.kind, error.message, error.hint]).toEqual(['UsageError', 'no such query', 'Known: ops.']);
    expect(errorOf(undefined).message).toMatch(/without a reason/);
  });
});
