import { describe, expect, it } from 'vitest';
import { clusters, merged, ridgesOf, ridgesText, roofsOf, roofsText, roofText, shortened } from './roofs';

const roof = (kind: string, name: string, value: number, label = 'datasheet') => ({
  kind,
  name,
  value,
  unit: '',
  label,
  source: `source of ${name}`
});
const SUMMARY = {
  roofs: [
    roof('compute', 'bf16', 918e12, 'profile'),
    roof('compute', 'f16', 459e12),
    roof('compute', 's8', 459e12),
    roof('memory', 'hbm', 1.64e12, 'measured'),
    roof('link', 'link', 4e11)
  ],
  other_roofs: [roof('memory', 'hbm', 1.7e12)]
};

describe('roofs', () => {
  const roofs = roofsOf(SUMMARY);

  it('are those believed and what others say', () => {
    expect(roofs.map(({ name, isMemory, isOther }) => [name, isMemory, isOther])).toEqual([
      ['bf16', false, false],
      ['f16', false, false],
      ['s8', false, false],
      ['hbm', true, false],
      ['link', true, false],
      ['hbm', true, true]
    ]);
    expect(roofsOf({})).toEqual([]);
    expect(roofsOf({ roofs: 'none' })).toEqual([]);
  });

  it('are one line where they are of equal height', () => {
    expect(merged(roofs.slice(0, 3)).map(({ names }) => names)).toEqual(['bf16', 'f16, s8']);
  });

  it('meet in ridges, of the chosen memory alone', () => {
    const ridges = ridgesOf(roofs, 'hbm');
    expect(ridges.map(({ dtypes, flopsPerByte }) => [dtypes, Math.round(flopsPerByte)])).toEqual([
      ['bf16', 560],
      ['f16, s8', 280]
    ]);
    expect(ridgesOf(roofs, 'link').map(({ flopsPerByte }) => Math.round(flopsPerByte))).toEqual([2295, 1148]);
    expect(ridgesOf(roofs, 'vmem_read')).toEqual([]);
    expect(ridgesText([...ridges, ...ridges])).toBe('560 · 280 FLOP/B (profile or datasheet ÷ measured)');
  });

  it('say their value and who vouches for it', () => {
    expect(roofs.slice(3).map(roofText)).toEqual([
      'HBM 1.64 TB/s (measured)',
      'links 400 GB/s (datasheet)',
      'HBM 1.70 TB/s (datasheet)'
    ]);
    expect(roofsText(roofs.slice(0, 3))).toBe(
      'bf16 918 TFLOP/s (profile) · f16 459 · s8 459 TFLOP/s (datasheet)'
    );
  });

  it('are shortened to the room there is', () => {
    const text = 'bf16 918 · f8 918 TFLOP/s (profile)';
    expect([99, 35, 34, 25, 24].map((room) => shortened(text, room))).toEqual([
      text,
      text,
      'bf16 918 · f8 918 TFLOP/s',
      'bf16 918 · f8 918 TFLOP/s',
      'bf16 918 TFLOP/s …'
    ]);
    expect(shortened('HBM 1.64 TB/s (profile)', 3)).toBe('HBM 1.64 TB/s');
    expect(shortened('f16 1 TFLOP/s · s8 2 TOP/s', 3)).toBe('f16 1 TFLOP/s …');
  });

  it('share a label where two would overlap', () => {
    expect(clusters([100, 30, 25, 1], (value) => value, 1.5)).toEqual([[100], [30, 25], [1]]);
    expect(clusters([1, 1.4, 1.9], (value) => value, 1.5)).toEqual([[1.9, 1.4, 1]]);
  });
});
