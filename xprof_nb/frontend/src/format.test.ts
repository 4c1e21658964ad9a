import { describe, expect, it } from 'vitest';
import * as format from './format';

describe('time', () => {
  it.each([
    [0, '0 ps'],
    [1, '1.00 ps'],
    [999, '999 ps'],
    [1000, '1.00 ns'],
    [12_345, '12.3 ns'],
    [54_300_000_000, '54.3 ms'],
    [999_499, '999 ns'],
    [9_996, '10.0 ns'],
    [999_600_000, '1.00 ms'],
    [1.17e12, '1.17 s'],
    [1234e12, '1\u2009234 s'],
    [-2_500_000, '-2.50 µs']
  ])('%d ps reads %s', (ps, text) => {
    expect(format.time(ps)).toBe(text);
  });
});

describe('rates and sizes', () => {
  it('uses SI prefixes for rates and binary ones for memory', () => {
    expect(format.flopRate(312e12)).toBe('312 TFLOP/s');
    expect(format.flopRate(9.999e11)).toBe('1.00 TFLOP/s');
    expect(format.byteRate(980e9)).toBe('980 GB/s');
    expect(format.flops(2 * 1024 ** 3)).toBe('2.15 GFLOP');
    expect([0, 4, 512].map(format.bytes)).toEqual(['0 B', '4 B', '512 B']);
    expect(format.bytes(1000)).toBe('1\u2009000 B');
    expect(format.bytes(1536)).toBe('1.50 KiB');
    expect(format.bytes(12.1 * 1024 ** 3)).toBe('12.1 GiB');
  });
});

describe('percent', () => {
  it('has one decimal and is never clipped', () => {
    expect(format.percent(0.931)).toBe('93.1 %');
    expect(format.percent(3.03)).toBe('303.0 %');
    expect(format.percent(0.0004)).toBe('<0.1 %');
    expect(format.percent(0)).toBe('0.0 %');
  });
});

describe('count and exact', () => {
  it('sets thousands apart', () => {
    expect(format.count(26_723)).toBe('26\u2009723');
    expect(format.count(2.5)).toBe('2.50');
    expect(format.count(0.01234)).toBe('0.0123');
    expect(format.exact(27_712_345, 'ps')).toBe('27\u2009712\u2009345 ps');
    expect(format.exact(12.5, '%')).toBe('12.5 %');
  });
});

describe('missing', () => {
  it('is an en dash everywhere', () => {
    const every = [
      format.time,
      format.flopRate,
      format.byteRate,
      format.flops,
      format.bytes,
      format.percent,
      format.count
    ];
    for (const write of every) {
      expect(write(Number.NaN)).toBe('–');
      expect(write(Number.POSITIVE_INFINITY)).toBe('–');
    }
    expect(format.exact(Number.NaN, 'ps')).toBe('–');
  });
});
