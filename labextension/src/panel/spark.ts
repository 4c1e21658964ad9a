/** A thumbnail of a run: how busy its devices were, or how long its steps took. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { format } from '@xprof-nb/views';
import type { Thumbnail } from '../runs_api';

const SVG = 'http://www.w3.org/2000/svg';
const WIDTH = 72;
const HEIGHT = 14;
const MOST_BARS = 24;
const LEAST_HEIGHT = 0.06;

/** The picture, named in words; null when nothing is known. */
export function spark({ busy, stepTimesPs }: Thumbnail, trans: TranslationBundle): SVGElement | null {
  const shares = stepTimesPs.length > 0 && busy.length === 0 ? ofTheLargest(stepTimesPs) : busy;
  const known = shares.filter(Number.isFinite);
  if (known.length === 0) {
    return null;
  }
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('class', 'jp-XprofRuns-spark');
  svg.setAttribute('viewBox', `0 0 ${WIDTH} ${HEIGHT}`);
  svg.setAttribute('preserveAspectRatio', 'none');
  svg.setAttribute('role', 'img');
  svg.setAttribute('aria-label', words({ busy, stepTimesPs }, trans));
  const title = document.createElementNS(SVG, 'title');
  title.textContent = words({ busy, stepTimesPs }, trans);
  const bars = averaged(shares, MOST_BARS);
  const width = WIDTH / bars.length;
  svg.append(
    title,
    ...bars.flatMap((share, index) => {
      if (!Number.isFinite(share)) {
        return [];
      }
      const height = HEIGHT * Math.min(1, Math.max(LEAST_HEIGHT, share));
      const bar = document.createElementNS(SVG, 'rect');
      for (const [name, value] of Object.entries({
        x: index * width,
        y: HEIGHT - height,
        width: width * 0.8,
        height
      })) {
        bar.setAttribute(name, value.toFixed(2));
      }
      return [bar];
    })
  );
  return svg;
}

/** `busy 86.5 % · step 54.3 ms`. */
export function words({ busy, stepTimesPs }: Thumbnail, trans: TranslationBundle): string {
  const share = mean(busy);
  const step = median(stepTimesPs);
  return [
    Number.isNaN(share) ? '' : trans.__('devices busy %1', format.percent(share)),
    Number.isNaN(step) ? '' : trans.__('step %1', format.time(step))
  ]
    .filter(Boolean)
    .join(' · ');
}

/** At most so many values, each the mean of its stretch. */
export function averaged(values: readonly number[], most: number): number[] {
  const count = Math.min(most, values.length);
  return Array.from({ length: count }, (_, index) =>
    mean(
      values.slice(
        Math.floor((index * values.length) / count),
        Math.floor(((index + 1) * values.length) / count)
      )
    )
  );
}

function ofTheLargest(values: readonly number[]): number[] {
  const largest = Math.max(...values.filter(Number.isFinite));
  return values.map((value) => value / largest);
}

function mean(values: readonly number[]): number {
  const known = values.filter(Number.isFinite);
  return known.reduce((sum, value) => sum + value, 0) / known.length;
}

function median(values: readonly number[]): number {
  const known = values.filter(Number.isFinite).sort((a, b) => a - b);
  const middle = known.length / 2;
  return known.length % 2 === 1
    ? (known[Math.floor(middle)] ?? Number.NaN)
    : ((known[middle - 1] ?? Number.NaN) + (known[middle] ?? Number.NaN)) / 2;
}
