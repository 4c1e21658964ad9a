import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { factsOf, mountCapture } from './control';
import { type Message, readState } from './talk';

const MIB = 1024 ** 2;
const IDLE = {
  kind: 'state',
  jax: 'started',
  devices: [{ name: 'TPU_0', held_bytes: 3 * MIB, limit_bytes: 32 * MIB, measured_by: 'allocator' }],
  profiler: { held_by: 'nobody', said: 'free' },
  job: null,
  runs: null
};
const JOB = {
  state: 'running',
  doing: 'Profiling: 1.0 s of 3 s',
  done_fraction: 0.33,
  progress: '',
  notes: []
};
const RUN = {
  name: 'warm',
  path: '/logs/warm',
  size_bytes: 2 * MIB,
  sentence: 'Memory-bound: step 20.0 ms.'
};

let stop = () => {};

function mounted(captured = vi.fn()) {
  const el = document.createElement('div');
  document.body.append(el);
  const sent: Message[] = [];
  let hear: (message: unknown) => void = () => undefined;
  const opened = vi.fn();
  const { dispose } = mountCapture(
    el,
    {
      send: (message) => sent.push(message),
      listen: (heard) => {
        hear = heard;
        return () => undefined;
      }
    },
    [{ label: 'Open', open: opened }],
    captured
  );
  stop = dispose;
  const find = <E extends HTMLElement>(selector: string) => el.querySelector<E>(selector) as E;
  return { el, sent, hear: (message: unknown) => hear(message), opened, find };
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('matchMedia', () => undefined);
});

afterEach(() => {
  stop();
  document.body.replaceChildren();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe('the Capture button of a kernel', () => {
  it('asks for what the form says', () => {
    const { sent, find } = mounted();
    find<HTMLInputElement>('[aria-label="How long"]').value = '10';
    const unit = find<HTMLSelectElement>('[aria-label="Seconds or steps"]');
    unit.value = 'steps';
    unit.dispatchEvent(new Event('change'));
    find<HTMLInputElement>('[aria-label="Name"]').value = 'warm';
    find<HTMLInputElement>('[type=checkbox]').checked = true;
    find('form').dispatchEvent(new Event('submit'));
    expect(sent).toEqual([
      { do: 'watch' },
      { do: 'start', steps: 10, name: 'warm', note: '', preset: 'full', python: true }
    ]);
    expect(find<HTMLInputElement>('[aria-label="How long"]').step).toBe('1');
  });

  it('shows how a capture is doing, cancels it, and does not start a second one', () => {
    const { sent, hear, find } = mounted();
    hear({ ...IDLE, job: JOB });
    expect(find('.jp-XprofCapture-running').hidden).toBe(false);
    expect(find('.jp-XprofCapture-doing').textContent).toBe('Profiling: 1.0 s of 3 s');
    expect(find('progress').getAttribute('value')).toBe('0.33');
    expect(find('.jp-XprofCapture-announced').textContent).toBe('The capture is running.');
    find('form').dispatchEvent(new Event('submit'));
    find('.jp-XprofCapture-running button').click();
    expect(sent.map((message) => message.do)).toEqual(['watch', 'cancel']);
  });

  it('offers what a capture brought, as text, and says so once', () => {
    const captured = vi.fn();
    const { hear, find, opened } = mounted(captured);
    hear({ ...IDLE, job: JOB });
    const done = { ...IDLE, job: { ...JOB, state: 'done' }, runs: [{ ...RUN, sentence: '<b>bold</b>' }] };
    hear(done);
    hear(done);
    expect(captured).toHaveBeenCalledTimes(1);
    expect(find('.jp-XprofCapture-running').hidden).toBe(true);
    expect(find('.jp-XprofCapture-size').textContent).toBe('2.00 MiB');
    expect(find('.jp-XprofCapture-sentence').textContent).toBe('<b>bold</b>');
    expect(find('.jp-XprofCapture-announced').textContent).toBe('Captured warm.');
    find('.jp-XprofCapture-run button').click();
    expect(opened).toHaveBeenCalledWith(expect.objectContaining({ path: '/logs/warm' }));
  });

  it('says why a capture failed or was refused, and what to do', () => {
    const { hear, find } = mounted();
    hear({
      ...IDLE,
      job: { ...JOB, state: 'failed', error: 'the disk is full', hint: 'Free some.' },
      runs: []
    });
    expect(find('.jp-XprofCapture-error').textContent).toBe('⚠ the disk is full. Free some.');
    hear({ kind: 'refused', message: 'a capture is under way.', hint: '`%xprof cancel` ends it early.' });
    expect(find('.jp-XprofCapture-refusal').textContent).toBe(
      'a capture is under way. `%xprof cancel` ends it early.'
    );
    find('form').dispatchEvent(new Event('submit'));
    expect(find('.jp-XprofCapture-refusal').textContent).toBe('');
  });

  it('says why it waits while the kernel does not answer, until it does', () => {
    const { hear, find } = mounted();
    vi.advanceTimersByTime(3_000);
    expect(find('.jp-XprofCapture-waiting').textContent).toContain('ipykernel 7');
    hear(IDLE);
    expect(find('.jp-XprofCapture-waiting').textContent).toBe('');
  });

  it('says at once that the kernel is gone when nothing can be sent to it', () => {
    const { hear, sent, find } = mounted();
    hear(IDLE);
    sent.push = () => {
      throw new Error('Cannot send');
    };
    find('form').dispatchEvent(new Event('submit'));
    vi.advanceTimersByTime(30_000);
    expect(find('.jp-XprofCapture-waiting').textContent).toContain('restarted or has ended');
  });

  it('tells the kernel again and again that somebody looks, and no more once it is gone', () => {
    const { sent, hear } = mounted();
    hear(IDLE);
    vi.advanceTimersByTime(31_000);
    expect(sent).toHaveLength(3);
    stop();
    vi.advanceTimersByTime(60_000);
    expect(sent).toHaveLength(3);
  });
});

describe('what is said of a kernel', () => {
  const facts = (changes: object) => {
    const state = readState({ ...IDLE, ...changes });
    return state && factsOf(state);
  };

  it('is devices, memory and who holds the profiler', () => {
    expect(facts({})).toBe('TPU_0 · 3.00 MiB of 32.0 MiB · profiler free');
    const silent = { name: 'cpu:1', held_bytes: MIB, limit_bytes: null };
    expect(facts({ devices: [silent, silent] })).toBe('2 devices · 2.00 MiB held · profiler free');
    expect(facts({ profiler: { held_by: 'another', said: 'theirs' } })).toContain('theirs');
  });

  it('says when JAX has not started', () => {
    expect(facts({ jax: 'imported', devices: [] })).toContain('JAX has not started');
  });

  it('survives what is no state', () => {
    for (const message of [null, 3, 'state', [], {}, { kind: 'refused' }]) {
      expect(readState(message)).toBeNull();
    }
    expect(facts({ devices: 'x', profiler: null, job: 7, runs: { a: 1 } })).toBe(
      '0 devices · 0 B held · profiler free'
    );
  });
});
