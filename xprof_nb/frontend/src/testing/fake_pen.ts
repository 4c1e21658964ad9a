/** A canvas that remembers what was drawn on it. */
import type { Pen } from '../timeline/pen';

export interface Drawn {
  readonly what: 'rect' | 'frame' | 'text' | 'fill' | 'stroke';
  readonly numbers: readonly number[];
  readonly text: string;
  readonly colour: string;
  readonly alpha: number;
}

export class FakePen implements Pen {
  fillStyle: Pen['fillStyle'] = '';
  strokeStyle: Pen['strokeStyle'] = '';
  lineWidth = 1;
  globalAlpha = 1;
  font = '11px test';
  textAlign: CanvasTextAlign = 'left';
  textBaseline: CanvasTextBaseline = 'middle';
  measured = 0;
  readonly drawn: Drawn[] = [];
  private _path: number[] = [];

  texts(): string[] {
    return this.drawn.filter(({ what }) => what === 'text').map(({ text }) => text);
  }

  rects(colour: string): Drawn[] {
    return this.drawn.filter((drawn) => drawn.what === 'rect' && drawn.colour === colour);
  }

  fillRect(...numbers: number[]): void {
    this._note('rect', numbers, String(this.fillStyle));
  }

  strokeRect(...numbers: number[]): void {
    this._note('frame', numbers, String(this.strokeStyle));
  }

  fillText(text: string, ...numbers: number[]): void {
    this._note('text', numbers, String(this.fillStyle), text);
  }

  /** Every character is 6 pixels wide. */
  measureText(text: string): TextMetrics {
    this.measured += 1;
    return { width: text.length * 6 } as TextMetrics;
  }

  beginPath(): void {
    this._path = [];
  }

  moveTo(x: number, y: number): void {
    this._path.push(x, y);
  }

  lineTo(x: number, y: number): void {
    this._path.push(x, y);
  }

  fill(): void {
    this._note('fill', this._path, String(this.fillStyle));
  }

  stroke(): void {
    this._note('stroke', this._path, String(this.strokeStyle));
  }

  closePath(): void {}
  save(): void {}
  restore(): void {}
  rect(): void {}
  clip(): void {}
  setLineDash(): void {}
  clearRect(): void {}
  setTransform(): void {}
  drawImage(): void {}

  private _note(what: Drawn['what'], numbers: readonly number[], colour: string, text = ''): void {
    this.drawn.push({ what, numbers, text, colour, alpha: this.globalAlpha });
  }
}
