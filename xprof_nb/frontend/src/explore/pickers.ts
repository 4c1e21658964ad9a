/** What a run can be narrowed to: its hosts, devices and steps, as far as there are several. */
import { h } from '../dom';
import type { Run } from '../host';
import type { Filters } from '../shell/link';

export class Pickers {
  readonly node = h('span', { class: 'jp-XprofExplore-pickers' });
  private readonly _host: HTMLSelectElement | null;
  private readonly _device: HTMLSelectElement | null;
  private readonly _step: HTMLInputElement;
  private _filters: Filters = {};

  constructor(run: Run, narrow: (filters: Filters) => void) {
    const changed = () => narrow(this._read());
    this._host = picker('host', run.hosts, changed);
    this._device = picker('device', [...new Set(run.devices)], changed);
    this._step = h('input', {
      class: 'jp-XprofExplore-step',
      title: 'The number of one step; all of them when empty',
      attrs: { type: 'number', step: 1, placeholder: 'all steps', 'aria-label': 'Step' },
      on: { change: changed }
    });
    this.node.append(...[this._host, this._device, this._step].filter((part) => part !== null));
  }

  /** Show what the run is narrowed to now, whoever did it. */
  update(filters: Filters): void {
    this._filters = filters;
    if (this._host !== null) {
      this._host.value = filters.host ?? '';
    }
    if (this._device !== null) {
      this._device.value = filters.device ?? '';
    }
    this._step.value = filters.step === undefined ? '' : String(filters.step);
  }

  private _read(): Filters {
    const step = this._step.value.trim() === '' ? Number.NaN : Number(this._step.value);
    const { window_ps } = this._filters;
    return {
      ...(this._host?.value ? { host: this._host.value } : {}),
      ...(this._device?.value ? { device: this._device.value } : {}),
      ...(Number.isInteger(step) ? { step } : {}),
      ...(window_ps === undefined ? {} : { window_ps })
    };
  }
}

function picker(what: string, names: readonly string[], changed: () => void): HTMLSelectElement | null {
  if (names.length < 2) {
    return null;
  }
  return h(
    'select',
    { class: 'jp-XprofChoice', attrs: { 'aria-label': what }, on: { change: changed } },
    h('option', { attrs: { value: '' } }, `all ${what}s`),
    ...names.map((name) => h('option', { attrs: { value: name } }, name))
  );
}
