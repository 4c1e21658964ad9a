/** The running kernels of this server, each with a Capture button where it has our extension loaded. */
import type { Kernel, ServiceManager, Session } from '@jupyterlab/services';
import type { TranslationBundle } from '@jupyterlab/translation';
import { type CapturedRun, type Mounted, mountCapture } from '@xprof-nb/views';
import { element } from '../dom';
import { KernelTalk } from './kernel_talk';

const PYTHON = 'python';

type Services = Pick<ServiceManager.IManager, 'sessions' | 'kernels' | 'kernelspecs'>;

export class KernelList {
  readonly node = element('details', 'jp-XprofRunning');
  private readonly _title = element('summary', 'jp-XprofRunning-title');
  private readonly _entries = new Map<string, KernelEntry>();
  private _started = false;

  /** `captured` is called when a kernel says that a capture has brought something. */
  constructor(
    private readonly _services: Services,
    private readonly _trans: TranslationBundle,
    private readonly _open: (run: CapturedRun) => void,
    private readonly _captured: () => void
  ) {
    this.node.open = true;
    this.node.append(this._title);
    this._draw([]);
  }

  /** Follow the running kernels until `stop`. */
  start(): void {
    if (!this._started) {
      this._started = true;
      this._services.sessions.runningChanged.connect(this._follow, this);
      this._follow();
    }
  }

  stop(): void {
    this._started = false;
    this._services.sessions.runningChanged.disconnect(this._follow, this);
    this._draw([]);
  }

  private _follow(): void {
    this._draw([...this._services.sessions.running()]);
  }

  private _draw(sessions: readonly Session.IModel[]): void {
    const byKernel = new Map(
      sessions.flatMap((session) => (session.kernel ? [[session.kernel.id, session] as const] : []))
    );
    for (const [id, entry] of this._entries) {
      if (!byKernel.has(id)) {
        entry.dispose();
        this._entries.delete(id);
      }
    }
    for (const [id, session] of byKernel) {
      const entry = this._entries.get(id) ?? this._add(session);
      entry?.rename(session);
    }
    this._title.textContent = this._trans.__('Running kernels (%1)', this._entries.size);
    this.node.hidden = this._entries.size === 0;
  }

  private _add(session: Session.IModel): KernelEntry | undefined {
    const model = session.kernel;
    if (model === null) {
      return undefined;
    }
    const spec = this._services.kernelspecs.specs?.kernelspecs[model.name];
    const isPython = (spec?.language ?? PYTHON) === PYTHON;
    const talks = isPython ? () => this._services.kernels.connectTo({ model, handleComms: false }) : null;
    const entry = new KernelEntry(
      spec?.display_name ?? model.name,
      talks,
      this._trans,
      this._open,
      this._captured
    );
    this._entries.set(model.id, entry);
    this.node.append(entry.node);
    return entry;
  }
}

class KernelEntry {
  readonly node = element('div', 'jp-XprofRunning-kernel');
  private readonly _name = element('div', 'jp-XprofRunning-name');
  private readonly _place = element('div', 'jp-XprofRunning-place');
  private readonly _talk: KernelTalk | null;
  private _mounted: Mounted | null = null;

  constructor(
    language: string,
    connect: (() => Kernel.IKernelConnection) | null,
    private readonly _trans: TranslationBundle,
    private readonly _open: (run: CapturedRun) => void,
    private readonly _captured: () => void
  ) {
    this.node.setAttribute('role', 'group');
    this.node.append(
      this._name,
      element('div', 'jp-XprofRunning-language jp-mod-faint', language),
      this._place
    );
    this._talk = connect && new KernelTalk(connect(), () => this._draw());
    this._draw();
  }

  rename({ name, path }: Session.IModel): void {
    this._name.textContent = name || path;
    this._name.title = path;
    this.node.setAttribute('aria-label', name || path);
  }

  dispose(): void {
    this._mounted?.dispose();
    this._talk?.dispose();
    this.node.remove();
  }

  private _draw(): void {
    this._mounted?.dispose();
    this._mounted = null;
    const talk = this._talk;
    if (talk?.standing === 'ready') {
      this._place.replaceChildren();
      this._mounted = mountCapture(
        this._place,
        talk,
        [{ label: this._trans.__('Open'), open: this._open }],
        this._captured
      );
    } else if (talk?.standing === 'not loaded' || talk?.standing === 'loading') {
      this._place.replaceChildren(this._offer(talk));
    } else {
      const words = {
        asking: this._trans.__(
          'Waiting for the kernel. One without subshells (before ipykernel 7) answers between cells.'
        ),
        dead: this._trans.__(
          'This kernel is dead: restart it from its notebook. What was captured is listed below.'
        ),
        other: this._trans.__('Only Python kernels can be captured.')
      }[talk === null ? 'other' : talk.standing];
      this._place.replaceChildren(element('p', 'jp-mod-faint', words));
    }
  }

  private _offer(talk: KernelTalk): HTMLElement {
    if (talk.standing === 'loading') {
      const words = talk.isBusy
        ? this._trans.__('Loads xprof_nb when the running cell ends…')
        : this._trans.__('Loading xprof_nb…');
      const waits = element('p', 'jp-mod-faint', words);
      waits.setAttribute('role', 'status');
      return waits;
    }
    const load = element(
      'button',
      'jp-XprofPanel-textButton',
      this._trans.__('Load xprof_nb in this kernel')
    );
    load.type = 'button';
    load.title = this._trans.__('Runs %load_ext xprof_nb');
    load.addEventListener('click', () => void talk.load());
    return load;
  }
}
