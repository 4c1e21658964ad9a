/** BokehJS of the installed Bokeh, loaded once a page, and the few things of it that charts use. */
import { type Host, HostError } from '../host';

/** A model of BokehJS: charts are made of them. */
export interface Model {
  [property: string]: unknown;
}

export interface Plot extends Model {
  add_layout(renderer: Model, place?: 'above' | 'below' | 'left' | 'right' | 'center'): void;
  add_glyph(glyph: Model, source: Source, attributes?: object): Model;
  add_tools(...tools: Model[]): void;
  on_event(name: string, heard: (event: PlotEvent) => void): void;
}

/** What happened on a plot: a tap at a place, a region that was dragged. */
export interface PlotEvent {
  readonly x?: number;
  readonly geometry?: { readonly x0?: number; readonly x1?: number };
  readonly final?: boolean;
}

export interface Source extends Model {
  data: { readonly [column: string]: ArrayLike<unknown> };
  readonly selected: Model & {
    indices: readonly number[];
    readonly properties: { readonly indices: { readonly change: { connect(heard: () => void): void } } };
  };
}

type Make<T extends Model> = new (properties?: object) => T;

interface Document {
  add_root(root: Model): void;
  clear(): void;
}

/** The views of a document: what is on screen of it. */
interface Views {
  clear(): void;
}

export interface Bokeh {
  readonly version: string;
  readonly Models: { readonly [name: string]: Make<Model> } & {
    readonly Plot: Make<Plot>;
    readonly ColumnDataSource: Make<Source>;
  };
  require(module: 'document'): { readonly Document: new () => Document };
  readonly embed: {
    add_document_standalone(document: Document, el: HTMLElement): Promise<Views>;
  };
  /** Every document of the page. */
  readonly documents: Document[];
  set_log_level(level: 'warn'): void;
}

const PLACE = Symbol.for('xprof-nb.bokeh.v1');

/** BokehJS; the first view of a page to need it loads it, the others wait for that. */
export function bokeh(host: Host): Promise<Bokeh> {
  const page = globalThis as { [PLACE]?: Promise<Bokeh> };
  const loading = page[PLACE] ?? host.library('bokeh').then(run);
  page[PLACE] = loading;
  loading.catch(() => {
    delete page[PLACE];
  });
  return loading;
}

/** Draw a plot into an element that is in the page; returns how to take it away. */
export async function drawPlot(library: Bokeh, plot: Plot, el: HTMLElement): Promise<() => void> {
  const { Document } = library.require('document');
  const document = new Document();
  document.add_root(plot);
  const views = await library.embed.add_document_standalone(document, el);
  return () => {
    views.clear();
    document.clear();
    // BokehJS itself keeps every document of a page for ever.
    const at = library.documents.indexOf(document);
    if (at >= 0) {
      library.documents.splice(at, 1);
    }
    el.remove();
  };
}

// As a script of its own: BokehJS is no module, and takes its place beside another version that a page may have.
// Without a viewport to listen to: it never stops listening, which would keep every plot for ever.
async function run(source: string): Promise<Bokeh> {
  const script = ['(function (visualViewport) {', source, '\n}).call(globalThis, null);'];
  const url = URL.createObjectURL(new Blob(script, { type: 'text/javascript' }));
  const element = document.createElement('script');
  try {
    await new Promise<void>((loaded, failed) => {
      element.addEventListener('load', () => loaded());
      element.addEventListener('error', () => failed(new HostError('The browser did not run BokehJS.')));
      element.src = url;
      document.head.append(element);
    });
  } finally {
    element.remove();
    URL.revokeObjectURL(url);
  }
  const loaded = (globalThis as { Bokeh?: Bokeh }).Bokeh;
  if (loaded === undefined) {
    throw new HostError('BokehJS is not what was expected.', 'Upgrade the package bokeh.');
  }
  loaded.set_log_level('warn');
  return loaded;
}
