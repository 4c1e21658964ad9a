/// <reference types="vite/client" />
import { describe, expect, it } from 'vitest';

const CODE = Object.entries(
  import.meta.glob<string>('./**/*.ts', { query: '?raw', import: 'default', eager: true })
).filter(([name]) => !name.endsWith('.test.ts') && !name.startsWith('./testing'));
const SCHEMAS = Object.entries(
  import.meta.glob<string>('../schema/*.json', { query: '?raw', import: 'default', eager: true })
);

describe('what a person reads', () => {
  it.each(CODE)('is translated in %s', (_name, source) => {
    const literal = /\b(?:label|caption|title|okLabel|placeholder|displayName)(?::| =) *(['"`])\w.*?\1/g;
    expect(source.match(literal)).toBeNull();
    expect(source.match(/aria-label', *['"`]/g)).toBeNull();
    expect(source.match(/trans\.__\((?!\s*['"`])/g)).toBeNull();
  });
});

describe('settings', () => {
  it.each(SCHEMAS)('of %s say what each is for', (_name, text) => {
    const schema = JSON.parse(text);
    for (const about of [schema, ...Object.values<Record<string, string>>(schema.properties)]) {
      expect(about.title).toMatch(/^\S.*\S$/);
      expect(about.description).toMatch(/\.$/);
    }
  });

  it('belong to plugins that there are', () => {
    const ids = CODE.find(([name]) => name === './tokens.ts')?.[1];
    for (const [name] of SCHEMAS) {
      expect(ids).toContain(`'xprof-nb:${name.replace('../schema/', '').replace('.json', '')}'`);
    }
  });
});
