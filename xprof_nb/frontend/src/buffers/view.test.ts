import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Answer, Mounted, Snapshot } from '../host';
import { linkOf } from '../shell/link';
import { FakeHost, rowsTable, snapshot } from '../testing/fixtures';
import { mount } from './view';

let mounted: Mounted | null = null;

afterEach(() => {
  mounted?.dispose();
  mounted = null;
  document.body.replaceChildren();
});

const answer: Answer = {
  table: rowsTable([
    {
      name: 'w',
      op: 'w',
      program_id: '7',
      kind: 'parameter',
      work_kind: 'control',
      bytes: 600,
      live_at_peak: 1,
      start: 0,
      end: 3
    },
    {
      name: 't',
      op: 'dot',
      program_id: '7',
      kind: 'temporary',
      work_kind: 'matrix',
      bytes: 300,
      live_at_peak: 1,
      start: 1,
      end: 2,
      scope: 'f/mlp'
    },
    {
      name: 'late',
      op: 'add',
      program_id: '7',
      kind: 'temporary',
      bytes: 50,
      live_at_peak: 0,
      start: 3,
      end: 3
    }
  ]),
  summary: {
    sentence: 'jit_f holds at most 900 B.',
    program: 'jit_f',
    program_id: '7',
    memory_space: 0,
    memory: 'HBM',
    peak_bytes: 900,
    position_count: 4,
    parameter_bytes: 600,
    output_bytes: 0,
    aliased_bytes: 0,
    constant_bytes: 0,
    capacity_bytes: 3600,
    curve: [
      { position: 0, op: 'w', live_bytes: 600 },
      { position: 1, op: 'dot', live_bytes: 900 }
    ],
    programs: [
      { program: 'jit_f', program_id: '7', allocated_bytes: 950 },
      { program: 'jit_g', program_id: '8', allocated_bytes: 10 }
    ],
    memory_spaces: [
      { memory_space: 0, memory: 'HBM', peak_bytes: 900 },
      { memory_space: 1, memory: 'VMEM', peak_bytes: 90 }
    ]
  },
  notes: []
};

function show(host: FakeHost): HTMLElement {
  const el = document.createElement('div');
  document.body.append(el);
  mounted = mount(host, el);
  return el;
}

function saved(kind: 'kernel' | 'static', changes: Partial<Snapshot> = {}): FakeHost {
  const whole = {
    ...snapshot(),
    view: 'buffers',
    title: 'buffers',
    params: {},
    extra: {},
    rowsTotal: 3,
    ...answer,
    ...changes
  };
  const host = new FakeHost(kind, whole, async () => answer);
  // There is no canvas here to draw charts on.
  host.library = () => new Promise(() => {});
  return host;
}

const leaves = (el: HTMLElement) => [...el.querySelectorAll<HTMLElement>('[data-leaf]')];

describe('the buffers', () => {
  it('say what is held at the peak, of how much, and what would still fit', () => {
    const el = show(saved('static'));
    const words = el.querySelector('.jp-XprofBuffers-words')?.textContent ?? '';
    expect(words).toContain('900 B at the peak of 3.52 KiB, 25.0 %');
    expect(words).toContain('would still fit 2.64 KiB');
  });

  it('map what is live at the peak, and only what the filter leaves', () => {
    const el = show(saved('static'));
    expect(leaves(el).map((leaf) => leaf.getAttribute('aria-label'))).toEqual([
      'w, 600 B, 66.7 % of the peak, parameter',
      't, 300 B, 33.3 % of the peak, temporary'
    ]);
    const filter = el.querySelector<HTMLInputElement>('.jp-XprofAnswer-filter');
    if (filter === null) {
      throw new Error('no filter');
    }
    filter.value = 'temporary';
    filter.dispatchEvent(new Event('input'));
    expect(leaves(el).map((leaf) => leaf.getAttribute('aria-label'))).toEqual([
      't, 300 B, 33.3 % of the peak, temporary'
    ]);
  });

  it('keep the bytes of what a snapshot left out', () => {
    const summary = { ...answer.summary, peak_bytes: 1000 };
    const el = show(saved('static', { summary }));
    expect(leaves(el).at(-1)?.getAttribute('aria-label')).toContain(
      'smaller ones, not saved here, 100 B, 10.0 %'
    );
  });

  it('choose an op for all views, and follow', () => {
    const host = saved('static');
    const el = show(host);
    const link = linkOf(host.snapshot.run);
    leaves(el)[1]?.click();
    expect(link.choice).toEqual({ op: 'dot', program_id: '7' });
    link.choose({ op: 'w', program_id: '7' }, {});
    expect(leaves(el).map((leaf) => leaf.classList.contains('jp-mod-chosen'))).toEqual([true, false]);
    link.choose({ op: 'w', program_id: '8' }, {});
    expect(leaves(el).map((leaf) => leaf.classList.contains('jp-mod-chosen'))).toEqual([false, false]);
    link.choose({}, {});
  });

  it('ask for another program and another memory', async () => {
    const host = saved('kernel');
    const el = show(host);
    const pick = async (what: string, value: string) => {
      const select = el.querySelector<HTMLSelectElement>(`select[aria-label="${what}"]`);
      if (select === null) {
        throw new Error(`no ${what}`);
      }
      select.value = value;
      select.dispatchEvent(new Event('change'));
      await vi.waitFor(() => expect(host.asked).toHaveLength(1));
      return host.asked.splice(0)[0]?.params;
    };
    expect(await pick('program', '8')).toMatchObject({ program: '8' });
    expect(await pick('memory', '1')).toMatchObject({ memory_space: 1, program: '7' });
  });

  it('are a table alone where xprof’s own numbers are asked for', () => {
    const el = show(saved('static', { summary: { program: 'jit_f', peak_bytes: 900 } }));
    expect(el.querySelector<HTMLElement>('.jp-XprofBuffers-charts')?.closest('[hidden]')).not.toBeNull();
    expect(el.querySelectorAll('.jp-XprofGrid-row')).toHaveLength(3);
  });
});
