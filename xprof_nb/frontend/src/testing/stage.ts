/** A page as wide as the tests of the timeline expect, with canvases that remember what was drawn. */
import { vi } from 'vitest';
import { FakePen } from './fake_pen';

export const WIDTH = 1000;
export const HEIGHT = 300;

/** Set it up; returns the pens by the class of their canvas. */
export function setStage(): Map<string, FakePen> {
  const pens = new Map<string, FakePen>();
  vi.stubGlobal(
    'ResizeObserver',
    class {
      constructor(private readonly _changed: () => void) {}
      observe(): void {
        queueMicrotask(this._changed);
      }
      disconnect(): void {}
    }
  );
  vi.stubGlobal('matchMedia', (query: string) => ({
    matches: query.includes('reduced-motion'),
    addEventListener: () => undefined,
    removeEventListener: () => undefined
  }));
  vi.spyOn(HTMLElement.prototype, 'clientWidth', 'get').mockReturnValue(WIDTH);
  vi.spyOn(HTMLElement.prototype, 'clientHeight', 'get').mockReturnValue(HEIGHT);
  vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockImplementation(function (this: HTMLCanvasElement) {
    const pen = new FakePen();
    pens.set(this.className, pen);
    return pen as unknown as never;
  });
  return pens;
}

export function clearStage(): void {
  document.body.replaceChildren();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
}

/** Let frames, microtasks and short timers pass. */
export async function frames(count = 4): Promise<void> {
  for (let i = 0; i < count; i++) {
    await new Promise((resolve) => requestAnimationFrame(resolve));
  }
}

export async function press(target: HTMLElement, ...keys: string[]): Promise<void> {
  for (const key of keys) {
    const shiftKey = key.startsWith('Shift+');
    const event = { key: key.replace('Shift+', ''), shiftKey, bubbles: true, cancelable: true };
    target.dispatchEvent(new KeyboardEvent('keydown', event));
    await frames(2);
  }
}
