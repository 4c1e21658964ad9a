/** The window onto the graph: draws a scene, pans and zooms, and tells what is pressed in it. */
import { h } from '../dom';
import { attachTooltip } from '../shell/tooltip';
import { Camera, type Extent } from './camera';
import { drawScene, type Measure, middleOf, svg } from './draw';
import { linesOfEdge, linesOfOp } from './explain';
import type { Box, Scene } from './scene';

export interface StageEvents {
  choose(op: string): void;
  center(op: string): void;
  fold(op: string): void;
}

const CLICK_PX = 4;
const WHEEL_PX_PER_DOUBLING = 300;
const EMPTY: Scene = { boxes: [], lines: [], width: 0, height: 0, leftOut: 0 };
const UNSEEN: Extent = { width: 900, height: 400 };

export class Stage {
  readonly node: HTMLElement;
  scene: Scene = EMPTY;
  /** The op the keyboard is at. */
  current = '';
  private readonly _camera = new Camera();
  private readonly _svg = svg('svg', {
    class: 'jp-XprofGraph-svg',
    role: 'group',
    'aria-label': 'Graph of ops'
  });
  private readonly _hideTip: () => void;
  private readonly _observer: ResizeObserver;
  private _drawing = svg('g');
  /** How large the window was when it was last looked at; null before anybody saw it. */
  private _seen: Extent | null = null;
  private _isDragged = false;

  constructor(private readonly _events: StageEvents) {
    this.node = h('div', { class: 'jp-XprofGraph-stage' });
    this._svg.append(this._drawing);
    this.node.append(this._svg);
    this._hideTip = attachTooltip(this.node, (target) => this._explain(target));
    this._svg.addEventListener('click', (event) => this._clicked(event));
    this._svg.addEventListener('dblclick', (event) => this._doubleClicked(event));
    this._svg.addEventListener('wheel', (event) => this._wheeled(event), { passive: false });
    this._svg.addEventListener('pointerdown', (event) => this._pressed(event));
    this._svg.addEventListener('pointerover', (event) => this._light(opOf(event.target)));
    this._svg.addEventListener('focusin', (event) => this._focused(opOf(event.target)));
    this._observer = new ResizeObserver(() => this._resized());
    this._observer.observe(this.node);
  }

  get drawing(): SVGGElement {
    return this._drawing;
  }

  dispose(): void {
    this._hideTip();
    this._observer.disconnect();
  }

  /** Draw a scene in place of what there is, looking at the same part. */
  draw(scene: Scene, measure: Measure, center: string): void {
    this._hideTip();
    const hadFocus = this._svg.contains(document.activeElement);
    this.scene = scene;
    const drawing = drawScene(scene, measure, center);
    this._drawing.replaceWith(drawing);
    this._drawing = drawing;
    if (this._boxOf(this.current) === undefined) {
      this.current = this._boxOf(center) === undefined ? (scene.boxes[0]?.op.name ?? '') : center;
    }
    this._place();
    this._rove(hadFocus);
  }

  /** Look at all of it, or around an op where all is too small to read. */
  begin(op: string): void {
    const box = this._boxOf(op);
    this._seen = this._svg.clientWidth > 0 ? this._window : null;
    this._camera.begin(this.scene, this._window, box === undefined ? { x: 0, y: 0 } : middleOf(box));
    this._place();
  }

  fit(): void {
    this._camera.fit(this.scene, this._window);
    this._place();
  }

  /** Zoom about the middle of the window. */
  zoom(factor: number): void {
    const { width, height } = this._window;
    this._camera.zoom(factor, { x: width / 2, y: height / 2 });
    this._place();
  }

  pan(dx: number, dy: number): void {
    this._camera.pan(dx, dy);
    this._place();
  }

  /** Bring an op into view; `isClose` also makes it large enough to read. */
  reveal(op: string, isClose = false): void {
    const box = this._boxOf(op);
    if (box === undefined) {
      return;
    }
    if (isClose) {
      this._camera.scale = Math.max(this._camera.scale, 1);
      this._camera.center(middleOf(box), this._window);
    } else {
      this._camera.reveal(middleOf(box), this._window);
    }
    this._place();
  }

  /** Outline what is chosen; ops that the table's filter leaves out are pale. */
  mark(chosen: string, isShown: (box: Box) => boolean): void {
    for (const box of this.scene.boxes) {
      const group = this._groupOf(box.op.name);
      group?.classList.toggle('jp-mod-chosen', box.op.name === chosen);
      group?.classList.toggle('jp-mod-pale', !isShown(box));
      group?.setAttribute('aria-pressed', String(box.op.name === chosen));
    }
    this._light(chosen);
  }

  /** Put the keyboard on an op. */
  focus(op: string): void {
    this.current = op;
    this._rove(true);
    this.reveal(op);
  }

  private get _window(): Extent {
    const { clientWidth: width, clientHeight: height } = this._svg;
    return width > 0 && height > 0 ? { width, height } : UNSEEN;
  }

  private _place(): void {
    this._drawing.setAttribute('transform', this._camera.transform);
  }

  private _resized(): void {
    if (this._svg.clientWidth === 0) {
      return;
    }
    if (this._seen === null) {
      this.begin(this.current);
      return;
    }
    const { width, height } = this._window;
    // What is in the middle stays there.
    this.pan((width - this._seen.width) / 2, (height - this._seen.height) / 2);
    this._seen = { width, height };
  }

  private _boxOf(name: string): Box | undefined {
    return this.scene.boxes.find(({ op }) => op.name === name);
  }

  private _groupOf(name: string): SVGGElement | null {
    return this._drawing.querySelector<SVGGElement>(`[data-op="${CSS.escape(name)}"]`);
  }

  private _rove(isFocused: boolean): void {
    for (const group of this._drawing.querySelectorAll('[tabindex="0"]')) {
      group.setAttribute('tabindex', '-1');
    }
    const group = this._groupOf(this.current);
    group?.setAttribute('tabindex', '0');
    if (isFocused) {
      group?.focus({ preventScroll: true });
    }
  }

  private _focused(name: string | null): void {
    if (name !== null && name !== this.current) {
      this.current = name;
      this._rove(false);
    }
    this._light(name);
  }

  /** Make the lines of an op stand out. */
  private _light(name: string | null): void {
    for (const line of this._drawing.querySelectorAll<SVGGElement>('.jp-XprofGraph-edge')) {
      const isNear = name !== null && name !== '' && (line.dataset.from === name || line.dataset.to === name);
      line.classList.toggle('jp-mod-near', isNear);
    }
  }

  private _explain(target: Element): { anchor: Element; lines: readonly string[] } | null {
    const group = target.closest('[data-op]');
    const box = this._boxOf(opOf(target) ?? '');
    if (group !== null && box !== undefined) {
      return { anchor: group, lines: linesOfOp(box) };
    }
    const line = target.closest<SVGGElement>('.jp-XprofGraph-edge');
    const edges = this.scene.lines.find(
      ({ edges: [edge] }) => edge?.from === line?.dataset.from && edge?.to === line?.dataset.to
    )?.edges;
    return line === null || edges === undefined ? null : { anchor: line, lines: linesOfEdge(edges) };
  }

  private _clicked(event: Event): void {
    const target = event.target as Element;
    const folded = target.closest<SVGElement>('[data-fold]')?.dataset.fold;
    const op = opOf(target);
    if (this._isDragged) {
      return;
    }
    if (folded !== undefined) {
      this._events.fold(folded);
    } else if (op !== null) {
      this.current = op;
      this._rove(true);
      this._events.choose(op);
    }
  }

  private _doubleClicked(event: Event): void {
    const op = opOf(event.target);
    if (op !== null && (event.target as Element).closest('[data-fold]') === null) {
      this._events.center(op);
    }
  }

  private _wheeled(event: WheelEvent): void {
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      const { left, top } = this._svg.getBoundingClientRect();
      const factor = 2 ** (-event.deltaY / WHEEL_PX_PER_DOUBLING);
      this._camera.zoom(factor, { x: event.clientX - left, y: event.clientY - top });
      this._place();
    }
  }

  private _pressed(start: PointerEvent): void {
    if (start.button !== 0) {
      return;
    }
    this._isDragged = false;
    let [x, y] = [start.clientX, start.clientY];
    const move = (event: PointerEvent) => {
      const isFar = Math.hypot(event.clientX - start.clientX, event.clientY - start.clientY) > CLICK_PX;
      this._isDragged ||= isFar;
      if (this._isDragged) {
        this.pan(event.clientX - x, event.clientY - y);
        [x, y] = [event.clientX, event.clientY];
      }
    };
    const stop = () => {
      window.removeEventListener('pointermove', move);
      window.removeEventListener('pointerup', stop);
      window.removeEventListener('pointercancel', stop);
    };
    window.addEventListener('pointermove', move);
    window.addEventListener('pointerup', stop);
    window.addEventListener('pointercancel', stop);
  }
}

function opOf(target: EventTarget | null): string | null {
  return target instanceof Element ? (target.closest<SVGElement>('[data-op]')?.dataset.op ?? null) : null;
}
