/** What a program needs at its peak of the memory there is, and what would still fit. */
import { h } from '../dom';
import { bytes, exact, MISSING, percent } from '../format';
import type { Need } from './rows';

export interface Part {
  readonly name: string;
  readonly bytes: number;
  /** How it is drawn. */
  readonly style: 'parameter' | 'output' | 'constant' | 'temporary' | 'free';
  readonly what: string;
}

/** The parts of a memory at the peak; what an output takes over of a parameter is the parameter's. */
export function partsOf(need: Need): Part[] {
  const { parameter_bytes, constant_bytes, peak_bytes, capacity_bytes } = need;
  const output_bytes = need.output_bytes - need.aliased_bytes;
  const held = parameter_bytes + output_bytes + constant_bytes;
  const parts: Part[] = [
    {
      name: 'parameters',
      bytes: parameter_bytes,
      style: 'parameter',
      what: 'arguments, held for the whole run'
    },
    {
      name: 'outputs',
      bytes: output_bytes,
      style: 'output',
      what: 'results beside those that take over a parameter'
    },
    { name: 'constants', bytes: constant_bytes, style: 'constant', what: 'values in the program' },
    {
      name: 'temporaries',
      bytes: peak_bytes - held,
      style: 'temporary',
      what: 'values between ops, at the peak'
    },
    {
      name: 'would still fit',
      bytes: capacity_bytes - peak_bytes,
      style: 'free',
      what: 'the capacity without the peak'
    }
  ];
  return parts.filter((part) => part.bytes > 0);
}

/** A bar of the whole memory, or of the peak alone when the capacity is unknown, and the same in words. */
export function meter(need: Need): HTMLElement {
  const { peak_bytes, capacity_bytes } = need;
  const parts = partsOf(need);
  const whole = parts.reduce((sum, part) => sum + part.bytes, 0);
  const unknown =
    need.memory_space === 0
      ? 'unknown: xprof_nb.hardware(name, capacity_bytes=…) states it'
      : 'unknown: nobody states the size of this memory';
  const of = Number.isNaN(capacity_bytes)
    ? h(
        'span',
        { title: 'The profile and our table of devices do not say it.' },
        `capacity ${MISSING}, ${unknown}`
      )
    : h(
        'span',
        { title: exact(capacity_bytes, 'B') },
        `of ${bytes(capacity_bytes)}, ${percent(peak_bytes / capacity_bytes)}`
      );
  return h(
    'div',
    { class: 'jp-XprofBuffers-meter' },
    h(
      'div',
      { class: 'jp-XprofBuffers-bar', attrs: { 'aria-hidden': true } },
      ...parts.map((part) => {
        const segment = h('span', {
          title: `${part.name}: ${bytes(part.bytes)}`,
          data: { part: part.style }
        });
        segment.style.flexGrow = String(part.bytes / whole);
        return segment;
      })
    ),
    h(
      'p',
      { class: 'jp-XprofBuffers-words' },
      h(
        'span',
        {},
        h('strong', { title: exact(peak_bytes, 'B') }, `${bytes(peak_bytes)} at the peak`),
        ' ',
        of
      ),
      ...parts.map((part) =>
        h(
          'span',
          { title: `${part.what}: ${exact(part.bytes, 'B')}` },
          h('span', { class: 'jp-XprofBuffers-swatch', data: { part: part.style } }),
          `${part.name} ${bytes(part.bytes)}`
        )
      ),
      capacity_bytes < peak_bytes
        ? h('strong', { class: 'jp-mod-warn' }, `⚠ ${bytes(peak_bytes - capacity_bytes)} too much`)
        : null
    )
  );
}
