/** The views there are: what people call each, and how it is loaded, which is when it is first shown. */
import type { Mount } from './host';

export interface View {
  readonly label: string;
  /** Whether it is among the tabs of a run. */
  readonly isExplored: boolean;
  load(): Promise<{ mount: Mount }>;
}

const table = () => import('./table/view');

/** By the name of the question a view shows, in the order in which they are offered. */
export const VIEWS: ReadonlyMap<string, View> = new Map<string, View>([
  ['overview', { label: 'overview', isExplored: true, load: () => import('./overview/view') }],
  ['op_profile', { label: 'op profile', isExplored: true, load: () => import('./op_profile/view') }],
  ['trace', { label: 'timeline', isExplored: true, load: () => import('./timeline/view') }],
  ['roofline', { label: 'roofline', isExplored: true, load: () => import('./roofline/view') }],
  ['memory', { label: 'memory', isExplored: true, load: () => import('./memory/view') }],
  ['buffers', { label: 'buffers', isExplored: true, load: () => import('./buffers/view') }],
  ['graph', { label: 'graph', isExplored: true, load: () => import('./graph/view') }],
  ['steps', { label: 'steps', isExplored: true, load: () => import('./steps/view') }],
  ['framework_ops', { label: 'framework ops', isExplored: true, load: () => import('./framework_ops/view') }],
  ['kernels', { label: 'kernels', isExplored: true, load: () => import('./kernels/view') }],
  [
    'input_pipeline',
    { label: 'input pipeline', isExplored: true, load: () => import('./input_pipeline/view') }
  ],
  ['collectives', { label: 'collectives', isExplored: true, load: () => import('./collectives/view') }],
  ['ops', { label: 'ops', isExplored: true, load: table }],
  ['kpis', { label: 'KPIs', isExplored: false, load: () => import('./kpis/view') }],
  ['events', { label: 'events', isExplored: false, load: table }],
  ['sql', { label: 'SQL', isExplored: false, load: table }],
  ['explore', { label: 'profile', isExplored: false, load: () => import('./explore/view') }]
]);

/** Loaders by name. */
export const views: ReadonlyMap<string, View['load']> = new Map(
  [...VIEWS].map(([name, { load }]) => [name, load])
);
