import { describe, expect, it } from 'vitest';
import { Markers } from './markers';

describe('Markers', () => {
  it('are named, ordered, changed and removed', () => {
    const markers = new Markers();
    const [a, b] = [markers.put(500), markers.put(100)];
    expect(markers.list.map(({ name, time }) => [name, time])).toEqual([
      ['B', 100],
      ['A', 500]
    ]);
    markers.change(b?.id ?? '', { name: '  warm-up  ', colour: '#123456' });
    markers.change(a?.id ?? '', { name: ' ' });
    expect(markers.list.map(({ name }) => name)).toEqual(['warm-up', 'A']);
    markers.remove(a?.id ?? '');
    expect(markers.put(700)?.name).toBe('A');
    expect(new Set(markers.list.map(({ id }) => id)).size).toBe(2);
  });

  it('are kept as the data layer has them, and what is broken is left out', () => {
    const markers = new Markers();
    markers.read([{ id: 'm1', name: 'x', color: '#1f7a4d', time_ps: 5 }, { id: 'm2' }, 7, null]);
    expect(markers.saved).toEqual([{ id: 'm1', name: 'x', color: '#1f7a4d', time_ps: 5 }]);
    markers.read([{ id: 'm1', name: 'x', color: 'url(evil)', time_ps: 5 }]);
    expect(markers.list[0]?.colour).toBe('#c0392b');
    markers.read('nonsense');
    expect(markers.list).toEqual([]);
  });

  it('step from one stretch between neighbours to the next, round and round', () => {
    const markers = new Markers();
    expect(markers.step(null, 1)).toBeNull();
    markers.put(1);
    expect(markers.step(null, 1)).toBeNull();
    markers.put(5);
    markers.put(9);
    const first = markers.step(null, 1);
    expect(first).toEqual({ start: 1, end: 5 });
    const second = markers.step(first, 1);
    expect(second).toEqual({ start: 5, end: 9 });
    expect(markers.step(second, 1)).toEqual(first);
    expect(markers.step(first, -1)).toEqual(second);
    expect(markers.step(null, -1)).toEqual(second);
  });

  it('are at most as many as can be kept', () => {
    const markers = new Markers();
    for (let i = 0; i < 1000; i++) {
      markers.put(i);
    }
    expect(markers.put(2000)).toBeNull();
    expect(new Set(markers.list.map(({ name }) => name)).size).toBe(1000);
  });
});
