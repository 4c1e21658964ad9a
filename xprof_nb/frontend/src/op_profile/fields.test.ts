import { describe, expect, it } from 'vitest';
import { fittingFields } from '../tree/fields';
import { FIELDS, LAYOUT } from './fields';

const ids = (width: number) => fittingFields(LAYOUT, width).map((field) => field.id);

describe('fittingFields', () => {
  it('drops columns by importance as the view narrows', () => {
    expect(ids(447)).toEqual(['name', 'share', 'self', 'bound']);
    expect(ids(930)).toEqual(['name', 'share', 'self', 'flops', 'bandwidth', 'bound', 'wasted']);
    expect(ids(2500)).toEqual(FIELDS.map((field) => field.id));
  });

  it('never shows more than fits, and never drops name and share', () => {
    for (let width = 300; width <= 2500; width += 10) {
      const fields = fittingFields(LAYOUT, width);
      expect(fields.reduce((sum, field) => sum + field.width, 0)).toBeLessThanOrEqual(width);
    }
    expect(ids(100)).toEqual(['name', 'share']);
  });

  it('leaves out what nothing is known of', () => {
    const fields = fittingFields(LAYOUT, 2500, new Set(['step_fraction'])).map(({ id }) => id);
    expect(fields).not.toContain('step');
    expect(fields).toContain('devices');
  });
});
