/** Says that a person waits, once that takes a while: what comes at once was never waited for. */

const PATIENCE_MS = 300;

export class Patience {
  private _timer = 0;
  private _isWaiting = false;

  constructor(private readonly _changed: (isWaiting: boolean) => void) {}

  wait(isWaiting: boolean): void {
    clearTimeout(this._timer);
    if (isWaiting) {
      this._timer = window.setTimeout(() => this._say(true), PATIENCE_MS);
    } else {
      this._say(false);
    }
  }

  dispose(): void {
    clearTimeout(this._timer);
  }

  private _say(isWaiting: boolean): void {
    if (isWaiting !== this._isWaiting) {
      this._isWaiting = isWaiting;
      this._changed(isWaiting);
    }
  }
}
