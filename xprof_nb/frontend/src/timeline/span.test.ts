import { describe, expect, it } from 'vitest';
import { History } from './history';
import { around, reaching, Scale, SHORTEST_PS, shifted, within, zoomed } from './span';
import { axisOf, moment, roundStep } from './ticks';

const BOUNDS = { start: 0, end: 1_000_000 };

describe('zoomed', () => {
  it('keeps the moment under the pointer in its place', () => {
    const closer = zoomed({ start: 200_000, end: 600_000 }, 300_000, 0.5, BOUNDS);
    expect(closer).toEqual({ start: 250_000, end: 450_000 });
    expect((300_000 - closer.start) / (closer.end - closer.start)).toBe((300_000 - 200_000) / 400_000);
  });

  it('stops at the whole run and where clocks tell nothing apart', () => {
    expect(zoomed({ start: 1, end: 900_000 }, 5, 10, BOUNDS)).toEqual(BOUNDS);
    const closest = zoomed({ start: 500_000, end: 501_500 }, 501_000, 0.01, BOUNDS);
    expect(closest.end - closest.start).toBe(SHORTEST_PS);
  });
});

describe('moving', () => {
  it('stays inside the run and keeps its length', () => {
    expect(shifted({ start: 100, end: 50_100 }, -500, BOUNDS)).toEqual({ start: 0, end: 50_000 });
    expect(shifted({ start: 900_000, end: 990_000 }, 50_000, BOUNDS)).toEqual({
      start: 910_000,
      end: 1_000_000
    });
    expect(within({ start: -5, end: 2_000_000 }, BOUNDS)).toEqual(BOUNDS);
  });

  it('shows a thing with room around it, even one without a length', () => {
    expect(around({ start: 400_000, end: 500_000 }, BOUNDS)).toEqual({ start: 385_000, end: 515_000 });
    const moment = around({ start: 400_000, end: 400_000 }, BOUNDS);
    expect(moment.end - moment.start).toBe(SHORTEST_PS);
  });

  it('goes no farther than it must to reach a thing', () => {
    const span = { start: 100_000, end: 200_000 };
    expect(reaching(span, { start: 110_000, end: 120_000 }, BOUNDS)).toBe(span);
    expect(reaching(span, { start: 500_000, end: 520_000 }, BOUNDS)).toEqual({
      start: 460_000,
      end: 560_000
    });
    expect(reaching(span, { start: 150_000, end: 900_000 }, BOUNDS)).toBe(span);
    expect(reaching(span, { start: 300_000, end: 900_000 }, BOUNDS).start).toBe(300_000);
  });

  it('goes from times to pixels and back', () => {
    const scale = new Scale({ start: 1000, end: 3000 }, 500);
    expect(scale.x(2000)).toBe(250);
    expect(scale.time(scale.x(1234))).toBe(1234);
    expect(scale.psPerPixel).toBe(4);
  });
});

describe('History', () => {
  const at = (start: number) => ({ start, end: start + 1000 });

  it('undoes and redoes moves', () => {
    const history = new History();
    history.leave(at(0), 'zoom', 0);
    history.leave(at(10), 'pan', 100);
    expect(history.undo(at(20))).toEqual(at(10));
    expect(history.undo(at(10))).toEqual(at(0));
    expect(history.undo(at(0))).toBeNull();
    expect(history.redo(at(0))).toEqual(at(10));
    expect(history.redo(at(10))).toEqual(at(20));
    expect(history.canRedo).toBe(false);
  });

  it('takes one turn of the wheel as one move', () => {
    const history = new History();
    for (let i = 0; i < 10; i++) {
      history.leave(at(i), 'zoom', i * 50);
    }
    history.leave(at(50), 'zoom', 5000);
    expect(history.undo(at(60))).toEqual(at(50));
    expect(history.undo(at(50))).toEqual(at(0));
    expect(history.canUndo).toBe(false);
  });

  it('forgets what was undone once something else is done', () => {
    const history = new History();
    history.leave(at(0), 'zoom', 0);
    history.undo(at(1));
    history.leave(at(0), 'pan', 10);
    expect(history.canRedo).toBe(false);
  });
});

describe('axisOf', () => {
  it('labels round steps that do not touch', () => {
    const { ticks, step, base } = axisOf({ start: 0, end: 98_600_000_000_000 }, 635);
    expect(ticks.map(({ label }) => label)).toEqual(['0 s', '20 s', '40 s', '60 s', '80 s']);
    expect([step, base]).toEqual([20e12, '']);
  });

  it('counts from a base where whole labels would be long', () => {
    const { ticks, base } = axisOf({ start: 49_241_000_000_000, end: 49_241_000_400_000 }, 420);
    expect(base).toBe('49.241\u2009000\u20090 s');
    expect(ticks.map(({ label }) => label).slice(0, 3)).toEqual(['0 ns', '+100 ns', '+200 ns']);
  });

  it('knows round steps', () => {
    expect([0.3, 1, 1.2, 3, 51, 99].map(roundStep)).toEqual([1, 1, 2, 5, 100, 100]);
  });

  it('writes a moment as exactly as a pixel shows it', () => {
    expect(moment(12_345_678_901, 1_000_000)).toBe('12.346 ms');
    expect(moment(12_345_678_901, 1)).toBe('12.345\u2009678\u2009901 ms');
  });
});
