import { describe, expect, it } from 'vitest';
import { BOUNDS, boxes, eventBoxes } from '../testing/trace';
import { Levels } from './levels';
import { nameTest } from './search';

const merged = (span = BOUNDS, pixels = 1000) =>
  boxes(
    [{ track: 3, lane: 0, start_ps: span.start, duration_ps: 10, count: 5, busy_ps: 5, event: 0, name: 'a' }],
    {
      span,
      pixels
    }
  );

describe('Boxes', () => {
  it('finds the box under the pointer, or one so near that nobody can aim better', () => {
    const all = eventBoxes();
    expect(all.name(all.find(3, 0, 1_000_000, 0))).toBe('fusion.1');
    expect(all.name(all.find(3, 1, 600_000, 0))).toBe('dot.2');
    expect(all.find(3, 0, 2_500_000, 1000)).toBe(-1);
    expect(all.name(all.find(3, 0, 2_990_000, 20_000))).toBe('all-reduce.3');
    expect(all.find(99, 0, 0, 1e9)).toBe(-1);
  });

  it('finds events without a length', () => {
    const all = boxes([
      { track: 2, lane: 0, start_ps: 500, duration_ps: 0, count: 1, event: 3, name: 'now' }
    ]);
    expect(all.find(2, 0, 510, 20)).toBe(0);
    expect(all.rowOf(2, 3)).toBe(0);
  });

  it('knows how busy a run of events is', () => {
    expect(merged().busyShare(0)).toBe(0.5);
    expect(eventBoxes().busyShare(0)).toBe(1);
    expect(merged().isExact(3)).toBe(false);
    expect(merged().isExact(2)).toBe(true);
  });

  it('tests every name once', () => {
    const all = eventBoxes();
    let asked = 0;
    const test = { text: 'fusion', matches: (name: string) => asked++ >= 0 && name.includes('fusion') };
    const matching = all.matching(test);
    all.matching(test);
    expect([...Array(all.rows).keys()].filter((row) => matching?.(row)).map((row) => all.name(row))).toEqual([
      'fusion.1',
      'fusion.1'
    ]);
    expect(asked).toBe(all.rows);
    expect(all.matching(nameTest(' '))).toBeNull();
  });
});

describe('Levels', () => {
  it('shows the coarse answer until the fine one is there, and around it', () => {
    const levels = new Levels(BOUNDS);
    const [whole, part] = [merged(), merged({ start: 4_000_000, end: 6_000_000 })];
    levels.add(whole);
    expect(levels.stretches(3, { start: 4e6, end: 6e6 }, 2000)).toEqual([
      { span: { start: 4e6, end: 6e6 }, boxes: whole }
    ]);
    expect(levels.lacking([2, 3], { start: 4e6, end: 6e6 }, 2000)).toEqual([3]);
    levels.add(part);
    expect(levels.lacking([2, 3], { start: 4e6, end: 6e6 }, 2000)).toEqual([]);
    expect(levels.stretches(3, { start: 3e6, end: 7e6 }, 4000)).toEqual([
      { span: { start: 3e6, end: 4e6 }, boxes: whole },
      { span: { start: 4e6, end: 6e6 }, boxes: part },
      { span: { start: 6e6, end: 7e6 }, boxes: whole }
    ]);
  });

  it('draws the coarsest that is fine enough', () => {
    const levels = new Levels(BOUNDS);
    const [fine, enough] = [merged(BOUNDS, 8000), merged(BOUNDS, 1000)];
    levels.add(fine);
    levels.add(enough);
    expect(levels.stretches(3, BOUNDS, 10_000)[0]?.boxes).toBe(enough);
    expect(levels.stretches(3, BOUNDS, 2000)[0]?.boxes).toBe(fine);
  });

  it('asks for nothing more where every event is a box of its own', () => {
    const levels = new Levels(BOUNDS);
    levels.add(eventBoxes());
    expect(levels.lacking([2, 3, 4], { start: 0, end: 1000 }, 1)).toEqual([]);
    expect(levels.isCoarse([3], { start: 0, end: 1000 }, 1)).toBe(false);
  });

  it('never takes a sketch or a curve for all there is', () => {
    const levels = new Levels(BOUNDS);
    levels.add(boxes([{ track: 3, lane: 0, start_ps: 0, duration_ps: 10, count: 1, name: 'a' }]));
    levels.add(
      boxes([{ track: 4, lane: 0, start_ps: 0, duration_ps: 10, count: 1, value: 3, event: 0 }], { ids: [4] })
    );
    expect(levels.lacking([3, 4], { start: 0, end: 1e6 }, 1000)).toEqual([3, 4]);
    expect(levels.isCoarse([4], { start: 0, end: 1e6 }, 1000)).toBe(true);
  });

  it('does not know tracks that no answer was about', () => {
    const levels = new Levels(BOUNDS);
    levels.add(merged());
    expect(levels.stretches(77, BOUNDS, 1000)).toEqual([]);
    expect(levels.lacking([77], BOUNDS, 1e9)).toEqual([77]);
  });

  it('forgets old answers but never the one about everything', () => {
    const levels = new Levels(BOUNDS);
    const whole = merged();
    levels.add(whole);
    for (let i = 0; i < 100; i++) {
      levels.add(merged({ start: i * 1000, end: i * 1000 + 1000 }));
    }
    expect(levels.answers.length).toBeLessThan(50);
    expect(levels.overview).toBe(whole);
  });
});
