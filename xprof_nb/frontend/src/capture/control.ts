/** The Capture button of one kernel: what it would profile, how the capture is doing, what it brought. */
import { adoptStyle, button, h } from '../dom';
import { bytes } from '../format';
import type { Mounted } from '../host';
import shell from '../style/shell.css?inline';
import { followTheme } from '../theme';
import { captureForm } from './form';
import style from './style.css?inline';

export type { CapturedRun, Talk } from './talk';

import {
  type CapturedRun,
  type Job,
  type KernelState,
  type Message,
  readRefusal,
  readState,
  type Talk
} from './talk';

/** The kernel pushes changes for 45 s after each of these. */
const WATCH_PERIOD_MS = 15_000;
const PATIENCE_MS = 2_500;
const WAITING =
  'The kernel does not answer yet. It is starting or gone, or runs a cell and cannot be asked meanwhile: ' +
  'that takes ipykernel 7 and JupyterLab 4.4. What you press is done when it answers.';
const GONE =
  'The kernel does not answer: it was restarted or has ended. What you pressed was not done; ' +
  'run the cell again that showed this.';

/** One way to look at a captured run. */
export interface Opener {
  readonly label: string;
  open(run: CapturedRun): void;
}

/** Draw it; `captured` is called when a capture seen under way has brought something. */
export function mountCapture(
  el: HTMLElement,
  talk: Talk,
  openers: readonly Opener[],
  captured: () => void = () => undefined
): Mounted {
  adoptStyle(el, shell);
  adoptStyle(el, style);
  const send = (message: Message) => {
    try {
      talk.send(message);
      expectAnswer();
    } catch {
      clearTimeout(patience);
      say(waiting, GONE);
    }
  };
  const form = captureForm((message) => {
    refusal.replaceChildren();
    send(message);
  });
  const facts = h('div', { class: 'jp-XprofCapture-facts' });
  const waiting = h('div', { class: 'jp-XprofCapture-waiting', attrs: { role: 'status' } });
  const refusal = h('div', { class: 'jp-XprofCapture-refusal', attrs: { role: 'alert' } });
  const doing = h('span', { class: 'jp-XprofCapture-doing' });
  const bar = h('progress', { attrs: { max: 1, 'aria-label': 'How far the capture is' } });
  const running = h(
    'div',
    { class: 'jp-XprofCapture-running' },
    doing,
    bar,
    button('Cancel', {
      class: 'jp-XprofButton',
      title: 'End it now and keep what is there',
      click: () => send({ do: 'cancel' })
    })
  );
  // Elapsed time changes all the time; only a new state is worth being read out.
  const announced = h('div', {
    class: 'jp-XprofCapture-announced',
    attrs: { role: 'status', 'aria-live': 'polite' }
  });
  const result = h('div', { class: 'jp-XprofCapture-result' });
  const root = h('div', { class: 'jp-XprofView jp-XprofCapture' });
  root.append(form.el, facts, waiting, refusal, running, announced, result);
  el.append(root);

  let patience: ReturnType<typeof setTimeout> | undefined;
  let shownResult = '';
  let underWayBefore = false;
  const expectAnswer = () => {
    patience ??= setTimeout(() => {
      say(waiting, WAITING);
    }, PATIENCE_MS);
  };
  const answered = () => {
    clearTimeout(patience);
    patience = undefined;
    say(waiting, '');
  };
  const show = (state: KernelState) => {
    const job = state.job;
    const underWay = job !== null && !job.ended;
    underWayBefore ||= underWay;
    running.hidden = !underWay;
    form.submit.setAttribute('aria-disabled', String(underWay));
    say(facts, factsOf(state));
    if (underWay) {
      say(doing, [job.progress, job.doing].filter(Boolean).join(' · '));
      if (Number.isFinite(job.doneFraction)) {
        bar.value = job.doneFraction;
      } else {
        bar.removeAttribute('value');
      }
    }
    say(announced, job === null ? '' : announcementOf(job, state.runs));
    const next = JSON.stringify([
      job?.ended ? [job.error, job.hint, job.state, job.notes] : null,
      state.runs
    ]);
    if (next !== shownResult) {
      shownResult = next;
      if (underWayBefore && state.runs?.length) {
        underWayBefore = false;
        captured();
      }
      result.replaceChildren(...(job?.ended ? resultOf(job, state.runs, openers) : []));
    }
  };
  running.hidden = true;
  const unlisten = talk.listen((message) => {
    answered();
    const state = readState(message);
    if (state !== null) {
      show(state);
    }
    const refused = readRefusal(message);
    if (refused !== null) {
      refusal.replaceChildren([refused.message, refused.hint].filter(Boolean).join(' '));
    }
  });
  const unfollow = followTheme(root);
  const watch = () => send({ do: 'watch' });
  const timer = setInterval(watch, WATCH_PERIOD_MS);
  watch();
  return {
    dispose: () => {
      clearTimeout(patience);
      clearInterval(timer);
      unlisten();
      unfollow();
      root.remove();
    }
  };
}

/** Devices, what they hold, and who has the profiler, in one line. */
export function factsOf({ jax, devices, profiler }: KernelState): string {
  if (jax !== 'started') {
    return 'JAX has not started in this kernel: run a cell that uses it, then capture.';
  }
  const held = devices.reduce((sum, device) => sum + device.heldBytes, 0);
  const limit = devices.reduce((sum, device) => sum + device.limitBytes, 0);
  const named = devices.length === 1 ? devices[0]?.name : `${devices.length} devices`;
  const memory = limit > 0 ? `${bytes(held)} of ${bytes(limit)}` : `${bytes(held)} held`;
  const holder = { nobody: 'profiler free', us: 'capturing', another: profiler.said }[profiler.heldBy];
  return [named, memory, holder].filter(Boolean).join(' · ');
}

function announcementOf(job: Job, runs: readonly CapturedRun[] | null): string {
  if (!job.ended) {
    return `The capture is ${job.state}.`;
  }
  const names = (runs ?? []).map((run) => run.name).join(', ');
  return job.state === 'done' && names ? `Captured ${names}.` : '';
}

function resultOf(job: Job, runs: readonly CapturedRun[] | null, openers: readonly Opener[]): Node[] {
  const parts: Node[] = [];
  if (job.error) {
    parts.push(
      h('p', { class: 'jp-XprofCapture-error', attrs: { role: 'alert' } }, `⚠ ${job.error}. ${job.hint}`)
    );
  } else if (job.state === 'cancelled') {
    parts.push(h('p', {}, 'Cancelled before anything was recorded.'));
  } else if (runs === null) {
    parts.push(h('p', {}, 'Reading the profile…'));
  }
  for (const run of runs ?? []) {
    parts.push(
      h(
        'div',
        { class: 'jp-XprofCapture-run', title: run.path },
        h('strong', {}, run.name),
        h('span', { class: 'jp-XprofCapture-size' }, bytes(run.bytes)),
        ...openers.map(({ label, open }) =>
          button(label, { class: 'jp-XprofButton', click: () => open(run) })
        ),
        run.sentence ? h('span', { class: 'jp-XprofCapture-sentence' }, run.sentence) : null
      )
    );
  }
  parts.push(...job.notes.map((note) => h('p', { class: 'jp-XprofCapture-note' }, note)));
  return parts;
}

/** Change a text only where it differs: a live region would be read out again. */
function say(el: HTMLElement, words: string): void {
  if (el.textContent !== words) {
    el.textContent = words;
  }
}
