import { nullTranslator } from '@jupyterlab/translation';
import { HostError } from '@xprof-nb/views';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { ServerJob } from '../runs_api';
import { JobList } from './jobs';

const job: ServerJob = {
  id: 'j1',
  run: '/logs/<b>big',
  query: 'trace',
  state: 'running',
  elapsedSeconds: 12
};
let jobs: ServerJob[];
const cancel = vi.fn(async () => undefined);
let list: JobList;

beforeEach(() => {
  vi.useFakeTimers();
  jobs = [job];
  list = new JobList({ jobs: async () => jobs, cancel }, nullTranslator.load('xprof_nb'));
});
afterEach(() => {
  list.dispose();
  vi.useRealTimers();
  vi.clearAllMocks();
});

const later = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds);

it('says what takes long, and for how long', async () => {
  jobs = [job, { ...job, id: 'j2', elapsedSeconds: 0.2 }];
  list.start();
  await later(10);
  expect(list.node.hidden).toBe(false);
  expect(list.node.textContent).toBe('timeline of <b>big12.0 s so farCancel');
  expect(list.node.querySelector('b')).toBeNull();
  jobs = [];
  await later(1_100);
  expect(list.node.hidden).toBe(true);
});

it('ends a job, or says why it cannot', async () => {
  list.start();
  await later(10);
  const button = list.node.querySelector('button');
  cancel.mockRejectedValueOnce(new HostError('not allowed'));
  button?.click();
  expect(button?.disabled).toBe(true);
  await later(0);
  expect(cancel).toHaveBeenCalledWith('j1');
  expect(button?.disabled).toBe(false);
  expect(list.node.textContent).toContain('not allowed');
});
