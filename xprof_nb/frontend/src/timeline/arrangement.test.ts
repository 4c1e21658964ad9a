import { describe, expect, it } from 'vitest';
import { rowsTable } from '../testing/fixtures';
import { tracks } from '../testing/trace';
import { Arrangement } from './arrangement';
import { isClosed, Layout, laneAt, laneTop } from './layout';
import { pathOf, type Track, Tracks } from './tracks';

function arranged() {
  const all = tracks();
  const arrangement = new Arrangement(all);
  return {
    arrangement,
    track: (id: number) => all.get(id) as Track,
    names: () => arrangement.rows().map(({ track }) => track.name)
  };
}

describe('Tracks', () => {
  it('reads the tree, and puts what has no parent at the top', () => {
    const all = new Tracks(
      rowsTable([
        { track: 4, parent: 9, name: 'orphan', lanes: 1 },
        { track: 9, parent: 9, name: 'its own parent', lanes: 1 },
        { track: 9, parent: 4, name: 'twice', lanes: 1 },
        { track: 7, parent: 4, name: 'child', lanes: 1 }
      ])
    );
    expect(all.top.map(({ name }) => name)).toEqual(['orphan', 'its own parent']);
    expect(pathOf(all.get(7) as Track)).toBe('orphan › child');
  });

  it('takes a track of unknown events for one that has some', () => {
    const all = new Tracks(rowsTable([{ track: 0, parent: -1, name: 'later', lanes: 1 }]));
    expect(isClosed(new Arrangement(all).rows()[0] as never)).toBe(false);
  });
});

describe('Arrangement', () => {
  it('folds what comes folded and unfolds on demand', () => {
    const { arrangement, names, track } = arranged();
    expect(names()).toEqual(['vm', 'TPU:0', 'Steps', 'Ops', 'HBM', 'Threads (2)']);
    arrangement.fold(track(5), false);
    expect(names().slice(-2)).toEqual(['worker/1', 'worker/2']);
    arrangement.fold(track(1), true);
    expect(names()).not.toContain('Ops');
    expect(arrangement.rows().map(({ isFolded }) => isFolded)).toEqual([false, true, false, null, null]);
  });

  it('puts pinned tracks on top, and hides', () => {
    const { arrangement, names, track } = arranged();
    arrangement.pin(track(4));
    arrangement.pin(track(4));
    expect(names().slice(0, 2)).toEqual(['HBM', 'vm']);
    expect(names().filter((name) => name === 'HBM')).toHaveLength(1);
    arrangement.hide(track(4));
    arrangement.hide(track(3));
    expect(names()).toEqual(['vm', 'TPU:0', 'Steps', 'Threads (2)']);
    arrangement.showHidden();
    expect(names()).toContain('Ops');
  });

  it('moves a track among its siblings only', () => {
    const { arrangement, names, track } = arranged();
    expect(arrangement.move(track(3), -1)).toBe(true);
    expect(names().slice(2, 5)).toEqual(['Ops', 'Steps', 'HBM']);
    expect(arrangement.move(track(3), -1)).toBe(false);
    arrangement.place(track(3), track(4), true);
    expect(names().slice(2, 5)).toEqual(['Steps', 'HBM', 'Ops']);
    arrangement.place(track(3), track(6), true);
    expect(names().slice(2, 5)).toEqual(['Steps', 'HBM', 'Ops']);
    arrangement.hide(track(4));
    expect(arrangement.move(track(3), -1)).toBe(true);
    expect(names().slice(2, 4)).toEqual(['Ops', 'Steps']);
  });

  it('filters by a regular expression, with what is around and inside a match', () => {
    const { arrangement, names } = arranged();
    arrangement.filter('^worker/2');
    expect(names()).toEqual(['vm', 'Threads (2)', 'worker/2']);
    arrangement.filter('tpu');
    expect(names()).toEqual(['vm', 'TPU:0', 'Steps', 'Ops', 'HBM']);
    arrangement.filter('(2');
    expect(names()).toEqual(['vm', 'Threads (2)', 'worker/1', 'worker/2']);
    arrangement.filter('');
    expect(names()).toHaveLength(6);
  });

  it('reveals a track that is folded, hidden and filtered away', () => {
    const { arrangement, names, track } = arranged();
    arrangement.hide(track(6));
    arrangement.filter('HBM');
    arrangement.reveal(track(6));
    expect(names()).toContain('worker/1');
  });

  it('tells a screen reader where a row stands', () => {
    const { arrangement } = arranged();
    const ops = arrangement.rows().find(({ track }) => track.name === 'Ops');
    expect(ops).toMatchObject({ level: 3, position: 2, setSize: 3 });
  });
});

describe('Layout', () => {
  it('stacks rows and finds them again', () => {
    const { arrangement, track } = arranged();
    const layout = new Layout(arrangement.rows());
    for (const { place, y } of layout.seen(0, 1000)) {
      expect(layout.at(y + 1, 0)?.place).toBe(place);
      expect(layout.at(y + place.height - 1, 0)?.place).toBe(place);
    }
    expect(layout.at(layout.height + 1, 0)).toBeNull();
    const ops = layout.find(3);
    expect(ops?.height).toBe(2 * 3 + 2 * 18);
    const seen = layout.at((ops?.top ?? 0) + 30, 0);
    expect(seen && laneAt(seen, (ops?.top ?? 0) + 30)).toBe(1);
    expect(seen && laneTop(seen, 1)).toBe((ops?.top ?? 0) + 3 + 18);
    expect(track(3).lanes).toBe(2);
  });

  it('keeps pinned rows in place and scrolls the others below them', () => {
    const { arrangement, track } = arranged();
    arrangement.pin(track(4));
    const layout = new Layout(arrangement.rows());
    expect(layout.pinnedHeight).toBe(46);
    expect(layout.at(10, 500)?.place.row.track.name).toBe('HBM');
    expect(layout.at(47, 24)?.place.row.track.name).toBe('TPU:0');
    const last = layout.seen(24, 100).at(-1);
    expect([last?.place.row.track.name, last?.y]).toEqual(['HBM', 0]);
  });

  it('scrolls no farther than it must', () => {
    const { arrangement } = arranged();
    const layout = new Layout(arrangement.rows());
    const place = layout.find(5);
    expect(place && layout.scrollTo(place, 0, 1000)).toBe(0);
    expect(place && layout.scrollTo(place, 0, 100)).toBe((place?.top ?? 0) + 24 - 100);
    expect(place && layout.scrollTo(place, 900, 100)).toBe(place?.top);
  });

  it('is fast with forty thousand tracks', () => {
    const rows = Array.from({ length: 40_000 }, (_, track) => ({
      track,
      parent: -1,
      name: `t${track}`,
      lanes: 1
    }));
    const layout = new Layout(new Arrangement(tracks(rows)).rows());
    const begun = performance.now();
    for (let i = 0; i < 1000; i++) {
      expect(layout.seen(i * 900, 360).length).toBeLessThan(20);
    }
    expect(performance.now() - begun).toBeLessThan(1000);
  });
});
