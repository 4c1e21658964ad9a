import { expect, it } from 'vitest';
import { columnsOf } from '../columns';
import { inputFraction, sharesOf, verdict } from './shares';

it('shares are of the time of the steps that count', () => {
  const table = columnsOf([
    {
      step: 0,
      step_time_ps: 100,
      compute_ps: 70,
      infeed_ps: 10,
      host_input_ps: 5,
      idle_ps: 15,
      is_partial: 0
    },
    { step: 1, step_time_ps: 300, compute_ps: 300, is_partial: 0 },
    { step: 2, step_time_ps: 50, infeed_ps: 50, is_partial: 1 },
    { step: 3, step_time_ps: 900, compile_ps: 900, is_compiling: 1, is_partial: 0 }
  ]);
  const shares = sharesOf(table, [0, 1, 2, 3]);
  const of = (id: string) => shares.find(({ part }) => part.id === id);
  expect(of('compute')).toMatchObject({ fraction: 370 / 400, mean_ps: 185 });
  expect(of('infeed')).toMatchObject({ fraction: 10 / 400, mean_ps: 5 });
  expect(of('compile')?.fraction).toBe(0);
  expect(inputFraction(shares)).toBeCloseTo(15 / 400, 12);
  expect(verdict(inputFraction(sharesOf(table, [0])))).toBe('moderately input-bound');
  expect(Number.isNaN(inputFraction(sharesOf(table, [])))).toBe(true);
});

it('the verdict has the thresholds of xprof', () => {
  expect([0, 0.0499, 0.05, 0.1999, 0.2, 1, Number.NaN].map(verdict)).toEqual([
    'not input-bound',
    'not input-bound',
    'moderately input-bound',
    'moderately input-bound',
    'highly input-bound',
    'highly input-bound',
    'unknown: no whole step has a length'
  ]);
});
