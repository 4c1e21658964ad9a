/** What hovering explains of a buffer. */
import { bytes, exact, percent } from '../format';
import { kindOf } from '../kinds';
import type { Buffer } from './rows';

/** Name, size and share, padding, shape with its layout, who made it, how long it is held. */
export function linesOfBuffer(buffer: Buffer, peak_bytes: number): readonly string[] {
  const { unpadded_bytes, padding_bytes } = buffer;
  const padding = Number.isNaN(padding_bytes)
    ? ''
    : padding_bytes > 0
      ? `padding ${bytes(padding_bytes)}, ${percent(padding_bytes / buffer.bytes)} of it; ${bytes(unpadded_bytes)} without`
      : 'no padding';
  return [
    buffer.name,
    `${bytes(buffer.bytes)} (${exact(buffer.bytes, 'B')}), ${percent(buffer.bytes / peak_bytes)} of the peak`,
    [buffer.dtype, buffer.shape].filter(Boolean).join(' '),
    padding,
    `${buffer.kind}${buffer.opcode === '' ? '' : ` of ${buffer.opcode}`}, ${kindOf(buffer.workKind).label}`,
    Number.isNaN(buffer.start)
      ? ''
      : `held from op ${buffer.start + 1} to op ${buffer.end + 1} of the program`,
    buffer.framework,
    buffer.source,
    buffer.shared === '' ? '' : `shares its memory with ${buffer.shared}`
  ].filter(Boolean);
}
