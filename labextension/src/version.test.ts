import { nullTranslator } from '@jupyterlab/translation';
import { describe, expect, it } from 'vitest';
import type { Api } from './api';
import { VERSION } from './tokens';
import { versionWarning } from './version';

const trans = nullTranslator.load('xprof_nb');
const told = (version: () => Promise<string>) => versionWarning({ version } as Api, trans);

describe('an extension and a server of different versions', () => {
  it('say both, and what to do', async () => {
    const warning = await told(async () => '99.0.0');
    expect(warning).toContain('99.0.0');
    expect(warning).toContain(VERSION);
    expect(warning).toContain('reload the page');
  });

  it('say nothing when they agree, or when the server does not tell', async () => {
    expect(await told(async () => VERSION)).toBeNull();
    expect(await told(async () => '')).toBeNull();
    expect(
      await told(async () => {
        throw new Error('no such route');
      })
    ).toBeNull();
  });
});
