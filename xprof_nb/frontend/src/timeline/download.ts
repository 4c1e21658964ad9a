/** The run as a file for other viewers: put together part by part, so that it says how far it is and can be stopped. */
import { type Host, HostError, type Params } from '../host';
import { number, text } from '../payload';

export type TraceFormat = 'chrome' | 'perfetto';

export const FORMATS: Readonly<Record<TraceFormat, string>> = {
  chrome: 'Chrome trace',
  perfetto: 'Perfetto trace'
};

export interface Downloaded {
  readonly content: Blob;
  /** What its name ends in, without the first dot. */
  readonly extension: string;
}

/** More than a browser can be asked to hold; the host refuses earlier, by the number of events. */
const MOST_BYTES = 1_000_000_000;
const MOST_PARTS = 1000;
const GZIP = 'application/gzip';

/** Ask for one part after the other; `progress` is told of each. */
export async function fetchTrace(
  host: Host,
  format: TraceFormat,
  box: Params,
  progress: (part: number, parts: number) => void,
  signal: AbortSignal
): Promise<Downloaded> {
  const parts: Blob[] = [];
  let count = 1;
  let bytes = 0;
  let extension = '';
  for (let part = 0; part < count; part++) {
    progress(part, count);
    const { table, summary } = await host.request('trace_export', { ...box, format, part }, signal);
    const packed = table.numbers.get('bytes');
    if (!(packed instanceof Uint8Array)) {
      throw new HostError(
        'The export has no bytes in it.',
        'Restart the kernel or the server and try again.'
      );
    }
    parts.push(new Blob([packed as Uint8Array<ArrayBuffer>], { type: GZIP }));
    bytes += packed.length;
    if (bytes > MOST_BYTES) {
      throw new HostError(
        'The file is larger than 1 GB.',
        'Select a stretch of time, or write it from Python.'
      );
    }
    count = Math.min(number(summary.part_count) || 1, MOST_PARTS);
    extension = text(summary.suffix).replace(/^\./, '') || 'gz';
  }
  return { content: await joined(parts), extension };
}

/** One gzip of what is in several: not every viewer reads on after the first. */
async function joined(parts: readonly Blob[]): Promise<Blob> {
  const [only] = parts;
  if (only !== undefined && parts.length === 1) {
    return only;
  }
  const packing = new CompressionStream('gzip');
  const packed = new Response(packing.readable).blob();
  for (const part of parts) {
    const unpacked = part.stream().pipeThrough(new DecompressionStream('gzip'));
    await unpacked.pipeTo(packing.writable, { preventClose: true });
  }
  await packing.writable.close();
  return new Blob([await packed], { type: GZIP });
}
