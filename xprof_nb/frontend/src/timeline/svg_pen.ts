/** A pen that writes SVG: what is drawn on the canvas can be taken along as a drawing. */
import type { Pen } from './pen';

interface Style {
  fillStyle: Pen['fillStyle'];
  strokeStyle: Pen['strokeStyle'];
  lineWidth: number;
  globalAlpha: number;
  font: string;
}

/** About how wide a character is, of the size of the font. */
const CHARACTER = 0.56;

export class SvgPen implements Pen {
  fillStyle: Pen['fillStyle'] = '#000';
  strokeStyle: Pen['strokeStyle'] = '#000';
  lineWidth = 1;
  globalAlpha = 1;
  font = '12px sans-serif';
  textAlign: CanvasTextAlign = 'left';
  textBaseline: CanvasTextBaseline = 'middle';
  private readonly _parts: string[] = [];
  private readonly _saved: { readonly style: Style; readonly groups: number }[] = [];
  private _path = '';
  private _groups = 0;
  private _clips = 0;
  private _dash = '';

  /** The whole drawing as a file. */
  document(width: number, height: number, title: string): string {
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" width="${n(width)}" height="${n(height)}" ` +
      `viewBox="0 0 ${n(width)} ${n(height)}"><title>${escaped(title)}</title>\n${this._parts.join('\n')}\n</svg>\n`
    );
  }

  /** Draw with another origin. */
  within(x: number, y: number, draw: () => void): void {
    this._parts.push(`<g transform="translate(${n(x)} ${n(y)})">`);
    draw();
    this._parts.push('</g>');
  }

  fillRect(x: number, y: number, width: number, height: number): void {
    this._parts.push(`<rect ${box(x, y, width, height)} ${this._fill()}/>`);
  }

  strokeRect(x: number, y: number, width: number, height: number): void {
    this._parts.push(`<rect ${box(x, y, width, height)} fill="none" ${this._stroke()}/>`);
  }

  fillText(text: string, x: number, y: number): void {
    const [size = '12px', ...family] = this.font.split(' ');
    this._parts.push(
      `<text x="${n(x)}" y="${n(y)}" dominant-baseline="central" font-size="${escaped(size)}" ` +
        `font-family="${escaped(family.join(' '))}" ${this._fill()}>${escaped(text)}</text>`
    );
  }

  measureText(text: string): TextMetrics {
    return { width: text.length * Number.parseFloat(this.font) * CHARACTER } as TextMetrics;
  }

  beginPath(): void {
    this._path = '';
  }

  moveTo(x: number, y: number): void {
    this._path += `M${n(x)} ${n(y)}`;
  }

  lineTo(x: number, y: number): void {
    this._path += `L${n(x)} ${n(y)}`;
  }

  rect(x: number, y: number, width: number, height: number): void {
    this._path += `M${n(x)} ${n(y)}h${n(width)}v${n(height)}h${n(-width)}z`;
  }

  closePath(): void {
    this._path += 'z';
  }

  fill(): void {
    this._parts.push(`<path d="${this._path}" ${this._fill()}/>`);
  }

  stroke(): void {
    this._parts.push(`<path d="${this._path}" fill="none" ${this._stroke()}/>`);
  }

  save(): void {
    const { fillStyle, strokeStyle, lineWidth, globalAlpha, font } = this;
    this._saved.push({
      style: { fillStyle, strokeStyle, lineWidth, globalAlpha, font },
      groups: this._groups
    });
    this._groups = 0;
  }

  restore(): void {
    const saved = this._saved.pop();
    if (saved !== undefined) {
      this._parts.push('</g>'.repeat(this._groups));
      this._groups = saved.groups;
      Object.assign(this, saved.style);
    }
  }

  clip(): void {
    const id = `clip${this._clips++}`;
    this._parts.push(`<clipPath id="${id}"><path d="${this._path}"/></clipPath><g clip-path="url(#${id})">`);
    this._groups += 1;
  }

  setLineDash(segments: Iterable<number>): void {
    this._dash = [...segments].join(' ');
  }

  private _fill(): string {
    return `fill="${escaped(String(this.fillStyle))}"${this._opacity('fill-opacity')}`;
  }

  private _stroke(): string {
    const dash = this._dash === '' ? '' : ` stroke-dasharray="${this._dash}"`;
    const colour = escaped(String(this.strokeStyle));
    return `stroke="${colour}" stroke-width="${n(this.lineWidth)}"${dash}${this._opacity('stroke-opacity')}`;
  }

  private _opacity(name: string): string {
    return this.globalAlpha === 1 ? '' : ` ${name}="${n(this.globalAlpha)}"`;
  }
}

function box(x: number, y: number, width: number, height: number): string {
  return `x="${n(x)}" y="${n(y)}" width="${n(Math.max(0, width))}" height="${n(Math.max(0, height))}"`;
}

function n(value: number): string {
  return String(Math.round(value * 100) / 100);
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
