/** What to capture: how long, under which name, how much of it. */
import { h } from '../dom';
import type { Message } from './talk';

const PRESETS = ['full', 'light', 'python'];
const LONGEST_S = 3600;

export interface CaptureForm {
  readonly el: HTMLFormElement;
  readonly submit: HTMLButtonElement;
}

/** A form that calls `start` with what was asked for. */
export function captureForm(start: (message: Message) => void): CaptureForm {
  const count = h('input', {
    class: 'jp-XprofView-input jp-XprofCapture-count',
    attrs: {
      type: 'number',
      value: 3,
      min: 0.01,
      max: LONGEST_S,
      step: 'any',
      required: true,
      'aria-label': 'How long'
    }
  });
  const unit = select('Seconds or steps', ['seconds', 'steps']);
  unit.addEventListener('change', () => {
    const isSteps = unit.value === 'steps';
    count.min = isSteps ? '1' : '0.01';
    count.step = isSteps ? '1' : 'any';
    count.max = isSteps ? '1000' : String(LONGEST_S);
  });
  const name = field('Name', 'the moment it starts');
  const note = field('Note', 'anything to remember');
  const preset = select('Preset', PRESETS);
  const python = h('input', { attrs: { type: 'checkbox' } });
  const submit = h('button', { class: 'jp-XprofButton jp-XprofCapture-start' }, 'Capture');
  submit.type = 'submit';
  const el = h(
    'form',
    { class: 'jp-XprofCapture-form', attrs: { 'aria-label': 'Capture' } },
    h('div', { class: 'jp-XprofCapture-row' }, submit, count, unit),
    h(
      'details',
      { class: 'jp-XprofCapture-more' },
      h('summary', {}, 'Name and options'),
      h(
        'div',
        { class: 'jp-XprofCapture-fields' },
        labelled('Name', name),
        labelled('Note', note),
        labelled('Preset', preset),
        h(
          'label',
          {
            class: 'jp-XprofCapture-check',
            title: 'Record every Python call: it can slow Python several times.'
          },
          python,
          'Python calls'
        )
      )
    )
  );
  el.addEventListener('submit', (event) => {
    event.preventDefault();
    if (submit.getAttribute('aria-disabled') === 'true') {
      return;
    }
    start({
      do: 'start',
      [unit.value]: Number(count.value),
      name: name.value,
      note: note.value,
      preset: preset.value,
      python: python.checked
    });
  });
  return { el, submit };
}

function field(label: string, placeholder: string): HTMLInputElement {
  return h('input', {
    class: 'jp-XprofView-input',
    attrs: { type: 'text', placeholder, 'aria-label': label }
  });
}

function select(label: string, options: readonly string[]): HTMLSelectElement {
  const el = h(
    'select',
    { class: 'jp-XprofView-input', attrs: { 'aria-label': label } },
    ...options.map((option) => h('option', {}, option))
  );
  el.value = options[0] ?? '';
  return el;
}

function labelled(label: string, control: HTMLElement): HTMLElement {
  return h('label', { class: 'jp-XprofCapture-field' }, h('span', {}, label), control);
}
