import { describe, expect, it } from 'vitest';
import { snapshot, table } from '../testing/fixtures';
import { type OpNode, OpTree } from '../tree/tree';
import { explainCell, explainHeader } from './explain';

const tree = new OpTree(table());
const { summary } = snapshot();
const node = (key: string) => tree.get(key) as OpNode;

describe('explainCell', () => {
  it('gives the exact value, the formula with its terms, the peak and its source', () => {
    const lines = explainCell('flops', node('/p1/dot/dot.14'), summary);
    expect(lines[1]).toBe('49.6 GFLOP ÷ 573 ms = 86.6 GFLOP/s');
    expect(lines[2]).toBe('76.6 % of peak 113 GFLOP/s f32 (measured)');
    expect(lines[3]).toContain('GEMM 2048');
  });

  it('says why a value is missing', () => {
    expect(explainCell('flops', node('/p1/custom-call/custom-call.5'), summary)).toEqual([
      'Unknown: XLA does not know the cost of a custom kernel.'
    ]);
    expect(explainCell('flops', node('/p1/copy/copy.31'), summary)).toEqual(['It does no arithmetic.']);
    expect(explainCell('bandwidth', node('/idle'), summary)).toEqual(['Nothing ran.']);
    expect(explainCell('time', node('/p1/loop fusion/exponential_reduce_fusion/add.2'), summary)).toEqual([
      'No backend measures inside a fusion.'
    ]);
  });

  it('doubts what is above a peak', () => {
    const lines = explainCell('flops', node('/p1/convolution fusion/dot_add_fusion.3'), summary);
    expect(lines.at(-1)).toContain('more than the peak allows');
  });

  it('gives the terms of what is wasted', () => {
    expect(explainCell('wasted', node('/p1/dot/dot.14'), summary)[1]).toBe('23.1 % × (1 − 76.6 %)');
  });

  it('has something to say about every column that is a number', () => {
    for (const field of ['share', 'time', 'self', 'count', 'flops', 'bandwidth', 'bound', 'wasted']) {
      expect(explainHeader(field, summary)).not.toEqual([]);
      expect(explainCell(field, node('/p1/dot/dot.14'), summary)).not.toEqual([]);
    }
  });
});
