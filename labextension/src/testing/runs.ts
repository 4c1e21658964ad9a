/** Runs that tests make up. */
import type { RunEntry } from '../runs_api';

export const NOW = new Date('2026-11-30T14:00:00Z');

export function run(changes: Partial<RunEntry> = {}): RunEntry {
  return {
    run: 'train-1',
    path: '/logs/plugins/profile/train-1',
    logdir: '/logs',
    started: new Date('2026-11-30T13:57:00Z'),
    durationSeconds: 1.2,
    hostCount: 1,
    hosts: [],
    bytes: 12.1 * 1024 ** 2,
    origin: 'captured',
    device: 'TPU v6 Lite',
    note: '',
    tags: [],
    ...changes
  };
}
