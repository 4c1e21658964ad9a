/** The list of markers: name, colour, place, distance to the next; delete, go to, focus between. */
import { button, h } from '../dom';
import { exact, time } from '../format';
import { MARKER_COLOURS, type Marker, type Markers } from './markers';
import { isSame, lengthOf, type Span } from './span';
import { moment } from './ticks';

export interface MarkerEvents {
  go(marker: Marker): void;
  rename(id: string, name: string): void;
  colour(id: string, colour: string): void;
  remove(id: string): void;
  focus(span: Span | null): void;
}

export class MarkerPane {
  readonly node = h('section', {
    class: 'jp-Timeline-pane jp-Timeline-markers',
    attrs: { 'aria-label': 'Markers', hidden: '' }
  });

  constructor(private readonly _events: MarkerEvents) {}

  update(markers: Markers, focus: Span | null, kept: string): void {
    this.node.hidden = markers.list.length === 0;
    this.node.replaceChildren(
      h(
        'div',
        { class: 'jp-Timeline-paneTitle' },
        h('strong', { class: 'jp-Timeline-paneName' }, 'Markers'),
        h('span', { class: 'jp-Timeline-muted' }, kept)
      ),
      h(
        'ul',
        { class: 'jp-Timeline-markerList' },
        ...markers.list.map((marker) => this._entry(marker, markers.after(marker.id), focus))
      )
    );
  }

  /** Put the cursor into the name of a marker. */
  editName(id: string): void {
    const input = this.node.querySelector<HTMLInputElement>(`[data-marker="${CSS.escape(id)}"] input`);
    input?.focus();
    input?.select();
  }

  private _entry(marker: Marker, next: Span | null, focus: Span | null): HTMLElement {
    const { id, name, colour } = marker;
    const input = h('input', {
      class: 'jp-XprofView-input jp-Timeline-markerName',
      attrs: { value: name, 'aria-label': `Name of marker ${name}`, spellcheck: false, maxlength: 200 },
      on: { change: () => this._events.rename(id, input.value) }
    });
    input.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' || event.key === 'Escape') {
        event.stopPropagation();
        input.blur();
      }
    });
    const swatch = h('select', {
      class: 'jp-Timeline-swatch',
      attrs: { 'aria-label': `Colour of marker ${name}` },
      on: { change: () => this._events.colour(id, swatch.value) }
    });
    swatch.style.background = colour;
    const choices = MARKER_COLOURS.includes(colour) ? MARKER_COLOURS : [colour, ...MARKER_COLOURS];
    choices.forEach((choice, index) => {
      const option = h('option', { attrs: { value: choice } }, `colour ${index + 1}`);
      option.style.background = choice;
      swatch.append(option);
    });
    swatch.value = colour;
    return h(
      'li',
      { data: { marker: id } },
      swatch,
      input,
      button(moment(marker.time, 1000), {
        class: 'jp-XprofLink',
        title: 'Go there',
        click: () => this._events.go(marker)
      }),
      next === null ? null : this._distance(next, focus),
      button('✕', {
        class: 'jp-XprofButton',
        title: 'Delete the marker',
        attrs: { 'aria-label': `Delete marker ${name}` },
        click: () => this._events.remove(id)
      })
    );
  }

  private _distance(next: Span, focus: Span | null): HTMLElement {
    const isFocused = focus !== null && isSame(next, focus);
    return button(`${time(lengthOf(next))} to the next`, {
      class: 'jp-XprofChoice jp-Timeline-distance',
      title: `${exact(lengthOf(next), 'ps')}. Focus on it: tables and other views are about this stretch alone.`,
      attrs: { 'aria-pressed': isFocused },
      click: () => this._events.focus(isFocused ? null : next)
    });
  }
}
