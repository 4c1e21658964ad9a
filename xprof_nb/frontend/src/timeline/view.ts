/** The timeline on screen: puts the parts together. */
import { adoptStyle, h } from '../dom';
import type { Host, Mounted } from '../host';
import { liveHint } from '../hosts/static';
import { dispatchKey, isTyping, type KeyBinding } from '../keys';
import { KINDS } from '../kinds';
import { text } from '../payload';
import { header } from '../shell/header';
import { KeyHelp } from '../shell/key_help';
import { legend } from '../shell/legend';
import { emptyBox, notesBox } from '../shell/notes';
import { StateTeller } from '../shell/state';
import shellStyle from '../style/shell.css?inline';
import { followTheme } from '../theme';
import { Bond } from './bond';
import type { Boxes } from './boxes';
import { Camera } from './camera';
import { Choices } from './choices';
import { type CommandParts, keyActions, markerEvents, menuActions } from './commands';
import { ContextMenu } from './context_menu';
import { Controller } from './controller';
import { Finder } from './finder';
import { Follower } from './follow';
import { attachGestures } from './gestures';
import { Headers } from './headers';
import { HoverCard } from './hover_card';
import { keyBindings } from './keyboard';
import { isClosed } from './layout';
import { Loader } from './loader';
import { MarkerPane } from './marker_pane';
import { MarkerStore } from './marker_store';
import { type MenuActions, timelineMenu } from './menus';
import { Messages } from './messages';
import { Painter } from './painter';
import { Panes } from './panes';
import panesStyle from './panes.css?inline';
import { Patience } from './patience';
import { savedWindows } from './saved';
import { type Layer, Stage } from './stage';
import { Standing } from './standing';
import { State } from './state';
import style from './style.css?inline';
import { TakeOut } from './take_out';
import { Toolbar } from './toolbar';
import { TrackControl } from './track_control';
import { Tracks } from './tracks';

const HELP =
  'Arrow keys move through time and tracks, w and s zoom, comma and full stop go from event to event, ' +
  'Enter explains one. The question mark lists all keys.';
/** What a move changes. */
const MOVED: readonly Layer[] = ['tracks', 'over', 'ruler', 'minimap'];

/** Draw the timeline of a host into an element. */
export function mount(host: Host, el: HTMLElement): Mounted {
  for (const sheet of [shellStyle, style, panesStyle]) {
    adoptStyle(el, sheet);
  }
  const view = new TimelineView(host);
  el.append(view.node);
  view.start();
  return view;
}

class TimelineView implements Mounted {
  readonly node: HTMLElement;
  private readonly _state: State;
  private readonly _headers: Headers;
  private readonly _stage: Stage;
  private readonly _camera: Camera;
  private readonly _painter: Painter;
  private readonly _loader: Loader;
  private readonly _panes: Panes;
  private readonly _store: MarkerStore;
  private readonly _tracks: TrackControl;
  private readonly _control: Controller;
  private readonly _choices: Choices;
  private readonly _toolbar: Toolbar;
  private readonly _finder: Finder;
  private readonly _markerPane: MarkerPane;
  private readonly _takeOut: TakeOut;
  private readonly _help = new KeyHelp(() => this._stage.area.focus());
  private readonly _menu: ContextMenu;
  private readonly _card = new HoverCard();
  private readonly _messages = new Messages();
  private readonly _follower: Follower;
  private readonly _teller: StateTeller;
  private readonly _bond: Bond;
  private readonly _patience = new Patience((isWaiting) => {
    this._state.isWaiting = isWaiting;
    this._changed('tracks');
  });
  private readonly _coarse = h('div', { class: 'jp-Timeline-coarse', attrs: { role: 'status', hidden: '' } });
  private readonly _menuActions: MenuActions;
  private readonly _bindings: readonly KeyBinding[];
  private readonly _stops: (() => void)[] = [];

  constructor(private readonly _host: Host) {
    const { snapshot } = _host;
    this.node = h('section', {
      class: 'jp-XprofView jp-Timeline',
      attrs: { 'aria-label': snapshot.title || 'timeline', 'data-lm-suppress-shortcuts': 'true' }
    });
    const tracks = new Tracks(snapshot.table);
    this._state = new State(tracks, snapshot.summary);
    for (const boxes of savedWindows(snapshot, tracks)) {
      this._state.levels.add(boxes);
      this._state.learn(boxes);
    }
    this._state.arrange();
    this._headers = this._makeHeaders();
    this._stage = new Stage(this._headers.node, HELP, {
      paint: (layers) => this._paint(layers),
      resized: () => this._changed(...MOVED, 'names'),
      scrolled: () => this._changed('tracks', 'over', 'names')
    });
    this._camera = new Camera(this._state.bounds, this._state.firstSpan, () => this._changed(...MOVED));
    this._painter = new Painter(this.node, this._stage, this._state, () => this._camera.span);
    this._loader = this._makeLoader();
    this._menu = new ContextMenu(this._state, this._stage, this._painter);
    this._panes = new Panes(_host);
    this._store = new MarkerStore(_host, this._state.markers, {
      changed: () => this._markersChanged(),
      keep: () => this._teller.tell()
    });
    this._tracks = new TrackControl(this._state, this._stage, this);
    this._follower = this._makeFollower();
    this._bond = new Bond(snapshot.run, this._state.clock, this._follower);
    this._control = new Controller(this._parts(), this);
    this._choices = this._makeChoices();
    this._toolbar = this._makeToolbar();
    this._finder = new Finder(_host, this._state, this._toolbar, {
      changed: () => this._changed('tracks', 'minimap'),
      go: (picked) => this._control.go(picked),
      failed: (error) => this._messages.fail(error),
      start: () => this._camera.target.start
    });
    this._markerPane = new MarkerPane(
      markerEvents(this._state.markers, this._store, this._control, this._choices)
    );
    this._takeOut = new TakeOut(_host, this._state, this._stage, this._painter, this._panes, this._messages);
    const commands = this._commands();
    this._menuActions = menuActions(commands);
    this._bindings = keyBindings(keyActions(commands), () => this._isInTree());
    this._compose();
    this._teller = new StateTeller(this.node, new Standing(this._commands()));
  }

  /** Begin, now that it is in the page. */
  start(): void {
    const redraw = () => {
      this._painter.forgetColours();
      this._changed(...MOVED, 'names');
    };
    this._stops.push(followTheme(this.node, redraw));
    this._tracks.rearranged();
    this._markersChanged();
    void this._store.load();
    this._bond.start();
  }

  dispose(): void {
    this._teller.dispose();
    this._patience.dispose();
    const { _bond, _finder, _follower, _loader, _camera, _panes, _store, _takeOut, _stage } = this;
    for (const part of [_bond, _finder, _follower, _loader, _camera, _panes, _store, _takeOut, _stage]) {
      part.dispose();
    }
    for (const stop of this._stops) {
      stop();
    }
    this._menu.dispose();
    this.node.remove();
  }

  announce(words: string): void {
    this._messages.announce(words);
  }

  say(words: string): void {
    this._messages.say(words);
  }

  arranged(): void {
    this._headers.reserve(this._state.layout);
  }

  private _makeFollower(): Follower {
    return new Follower(this._host, this._state, this._camera, {
      search: (typed) => this._searchName(typed),
      go: (picked) => this._control.go(picked),
      focus: (span) => this._choices.followFocus(span),
      rearranged: () => this._tracks.rearranged(),
      failed: (error) => this._messages.fail(error)
    });
  }

  private _makeHeaders(): Headers {
    return new Headers('Tracks', this._state.bounds, {
      activate: (track) => this._tracks.activate(track),
      fold: (track, folded) => this._tracks.fold(track, folded),
      pin: (track) => this._tracks.togglePin(track),
      drop: (track, beside, isAfter) => this._tracks.place(track, beside, isAfter),
      menu: (track, x, y) => this._menu.open({ picked: null, track, time: null }, this._menuActions, x, y)
    });
  }

  private _makeLoader(): Loader {
    return new Loader(this._host, this._state.levels, this._state.bounds, {
      arrived: (boxes) => this._arrived(boxes),
      failed: (error) => this._messages.fail(error, () => this._loader.retry()),
      waiting: (isWaiting) => {
        this._stage.node.classList.toggle('jp-mod-waiting', isWaiting);
        this._patience.wait(isWaiting);
      }
    });
  }

  private _parts() {
    return {
      state: this._state,
      stage: this._stage,
      painter: this._painter,
      camera: this._camera,
      panes: this._panes,
      tracks: this._tracks,
      store: this._store,
      bond: this._bond,
      isLive: this._host.kind !== 'static'
    };
  }

  private _makeChoices(): Choices {
    return new Choices(this._parts(), this, {
      close: () => this._choices.clearSelection(),
      copy: () => this._messages.copy(this._takeOut.table),
      csv: () => this._takeOut.csv(),
      python: () => this._messages.copy(this._takeOut.python),
      search: (name) => this._searchName(name)
    });
  }

  private _commands(): CommandParts {
    return {
      state: this._state,
      camera: this._camera,
      control: this._control,
      choices: this._choices,
      tracks: this._tracks,
      finder: this._finder,
      toolbar: this._toolbar,
      panes: this._panes,
      store: this._store,
      bond: this._bond,
      takeOut: this._takeOut,
      messages: this._messages,
      searchName: (name) => this._searchName(name),
      menuAtSelection: () => this._menu.openAtSelection(this._menuActions),
      back: () => this._back(),
      help: () => this._help.toggle(this._bindings, this._stage.area)
    };
  }

  private _makeToolbar(): Toolbar {
    return new Toolbar({
      search: (typed) => this._finder.search(typed),
      hit: (by) => void this._finder.step(by),
      filter: (typed) => this._tracks.filter(typed),
      zoom: (factor) => this._control.zoomStep(factor),
      all: () => this._control.all(),
      undo: () => this._camera.undo(),
      redo: () => this._camera.redo(),
      mark: () => this._choices.mark(this._choices.markTime),
      leave: () => this._stage.area.focus()
    });
  }

  private _compose(): void {
    const { snapshot } = this._host;
    const isEmpty = snapshot.summary.event_count === 0 || this._state.tracks.all.length === 0;
    const sentence = text(snapshot.summary.sentence);
    this._coarse.textContent = `Coarser than the screen: no more is saved. ${liveHint(snapshot.run.path)}`;
    const parts = [
      header(this._host, timelineMenu(this._menuActions, this._host.kind)),
      sentence === '' ? null : h('p', { class: 'jp-Timeline-sentence' }, sentence),
      notesBox(snapshot.notes),
      isEmpty
        ? emptyBox(snapshot.notes)
        : h('div', { class: 'jp-Timeline-main' }, this._toolbar.node, this._stage.node),
      h(
        'div',
        { class: 'jp-Timeline-foot' },
        legend(KINDS.filter((kind) => kind.id !== 'idle')),
        this._coarse,
        this._messages.status
      ),
      this._markerPane.node,
      this._panes.node,
      this._messages.live,
      this._card.node,
      this._menu.node,
      this._help.node
    ];
    this.node.append(...parts.filter((part) => part !== null));
    this.node.addEventListener('keydown', (event) => {
      this._keyPressed(event);
      event.stopPropagation();
    });
    this._stops.push(
      attachGestures({
        state: this._state,
        stage: this._stage,
        painter: this._painter,
        camera: this._camera,
        control: this._control,
        choices: this._choices,
        card: this._card,
        menu: (at, x, y) => {
          const subject = { ...this._control.at(at), time: this._painter.scale.time(at.x) };
          this._menu.open(subject, this._menuActions, x, y);
        }
      })
    );
  }

  /** Draw again, and see whether what is on screen now is known. */
  private _changed(...layers: readonly Layer[]): void {
    this._stage.invalidate(...layers);
  }

  private _paint(layers: ReadonlySet<Layer>): void {
    this._painter.paint(layers);
    if (layers.has('names')) {
      const { layout, active } = this._state;
      this._headers.update(layout, active, this._painter.scrollTop, this._stage.height);
    }
    if (layers.has('tracks')) {
      this._askForWindow();
    }
    if (layers.has('ruler')) {
      this._stage.describeWindow(this._camera.span, this._state.bounds);
      this._toolbar.moves = this._camera;
    }
    this._teller.changed();
  }

  private _arrived(boxes: Boxes): void {
    if (this._state.learn(boxes)) {
      this._tracks.rearranged();
    }
    this._control.settle();
    this._changed('tracks', 'over', 'minimap', 'names');
  }

  private _askForWindow(): void {
    const tracks = this._painter
      .seen()
      .filter(({ place }) => !isClosed(place.row))
      .map(({ place }) => place.row.track.id);
    if (this._stage.width > 0 && tracks.length > 0) {
      this._loader.want({ span: this._camera.target, pixels: this._stage.width, tracks });
    }
    if (this._host.kind === 'static') {
      const { span, psPerPixel } = this._painter.scale;
      const isCoarse = this._state.levels.isCoarse(tracks, span, psPerPixel);
      this._coarse.hidden = !isCoarse;
    }
  }

  private _markersChanged(): void {
    const { markers, focus } = this._state;
    this._markerPane.update(markers, focus, this._store.kept);
    this._changed('over', 'ruler', 'minimap');
  }

  private _isInTree(): boolean {
    return this.node.ownerDocument.activeElement === this._headers.node;
  }

  private _keyPressed(event: KeyboardEvent): void {
    const isElsewhere =
      event.target instanceof HTMLButtonElement || event.target instanceof HTMLSelectElement;
    if (!isTyping(event) && !(isElsewhere && [' ', 'Enter'].includes(event.key))) {
      dispatchKey(event, this._bindings);
    }
  }

  private _searchName(name: string): void {
    this._toolbar.search.value = name;
    this._finder.search(name);
  }

  /** Esc: the newest of what is open goes first. */
  private _back(): void {
    const { area, focus, selected } = this._state;
    if (this._help.isOpen) {
      this._help.close();
    } else if (this._panes.hasDetails) {
      this._control.closeDetails();
    } else if (area !== null && focus === null) {
      this._choices.clearSelection();
    } else if (focus !== null) {
      this._choices.focus(null);
    } else if (selected !== null) {
      this._control.select(null);
    } else if (this._finder.isActive) {
      this._searchName('');
    }
  }
}
