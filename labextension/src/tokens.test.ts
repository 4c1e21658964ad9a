import { expect, it } from 'vitest';
import root from '../../package.json';
import views from '../../xprof_nb/frontend/package.json';
import extension from '../package.json';
import { VERSION } from './tokens';

it('is the version of every package', () => {
  expect([root.version, views.version, extension.version]).toEqual([VERSION, VERSION, VERSION]);
});
