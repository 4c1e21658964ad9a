/** BokehJS of the installed Bokeh, loaded once a page, and the few things of it that charts use. */
import { type Host, HostError } from '../host';

/** A model of BokehJS: charts are made of them. */
export interface Model {
  [property: string]: unknown;
}

export interface Plot extends Model {
  add_layout(renderer: Model, place?: 'above' | 'below' | 'left' | 'right' | 'center'): void;
  add_glyph(glyph: Model, source: Source): Model;
  add_tools(...tools: Model[]): void;
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

/** A view of a plot: what is on screen of it. */
export interface PlotView {
  remove?(): void;
}

export interface Bokeh {
  readonly version: string;
  readonly Models: { readonly [name: string]: Make<Model> } & {
    readonly Plot: Make<Plot>;
    readonly ColumnDataSource: Make<Source>;
  };
  require(module: 'document'): { readonly Document: new () => Document };
  readonly embed: {
    add_document_standalone(document: Document, el: HTMLElement): Promise<Iterable<PlotView>>;
  };
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

// As a script of its own: BokehJS is no module, and takes its place beside another version that a page may have.
async function run(source: string): Promise<Bokeh> {
  const url = URL.createObjectURL(new Blob([source], { type: 'text/javascript' }));
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
