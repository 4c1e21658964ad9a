/** The one header of every view: run, devices, window, what it is connected to, notes, menu. */
import { h } from '../dom';
import { time } from '../format';
import type { Host, HostKind, Params, Summary } from '../host';
import { liveHint } from '../hosts/static';
import { number } from '../payload';
import { type MenuItem, menuButton } from './menu';

const CONNECTIONS: Record<HostKind, { label: string; title: string }> = {
  kernel: { label: 'live', title: 'Answers come from the notebook’s kernel.' },
  server: { label: 'live', title: 'Answers come from the Jupyter server, without a kernel.' },
  static: { label: 'snapshot', title: 'Saved with the output; it cannot be asked for more.' }
};

export function header(host: Host, menu: readonly MenuItem[]): HTMLElement {
  const { run, params, summary } = host.snapshot;
  const connection = CONNECTIONS[host.kind];
  const title = host.kind === 'static' ? `${connection.title} ${liveHint(run.path)}` : connection.title;
  return h(
    'header',
    { class: 'jp-XprofHeader' },
    h('strong', { class: 'jp-XprofHeader-run', title: run.path }, run.name || 'profile'),
    h(
      'span',
      { class: 'jp-XprofHeader-part', title: run.devices.join(', ') },
      devices(run.hosts, run.devices)
    ),
    h('span', { class: 'jp-XprofHeader-part' }, span(params, summary)),
    h(
      'span',
      { class: 'jp-XprofHeader-end' },
      h('span', { class: `jp-XprofBadge jp-mod-${host.kind}`, title }, connection.label),
      menuButton(menu)
    )
  );
}

/** `TPU:0 … TPU:7 (8) on host-a`: every device when there are few, else the first, the last and how many. */
export function devices(hosts: readonly string[], names: readonly string[]): string {
  const listed =
    names.length <= 2 ? names.join(', ') : `${names[0]} … ${names[names.length - 1]} (${names.length})`;
  const where = hosts.length === 1 ? `on ${hosts[0]}` : `on ${hosts.length} hosts`;
  return hosts.length > 0 && listed ? `${listed} ${where}` : listed || hosts.join(', ');
}

/** Which part of the run is shown. */
export function span(params: Params, summary: Summary): string {
  const total = number(summary.total_time_ps);
  const length = Number.isFinite(total) ? `${time(total)} of device time` : '';
  if (params.step !== undefined && params.step !== null) {
    return [`step ${String(params.step)}`, length].filter(Boolean).join(', ');
  }
  return Array.isArray(params.window_ps)
    ? ['window', length].filter(Boolean).join(', ')
    : length || 'whole run';
}
