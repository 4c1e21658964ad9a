/** Kernels of GPUs: the most expensive as bars, every launch shape with its occupancy as a table. */
import { answerView } from '../shell/answer';
import { KernelBars } from './bars';
import style from './style.css?inline';

/** Draw the kernels of a host into an element. */
export const mount = answerView({
  label: 'kernels',
  styles: [style],
  columns: [
    { name: 'kernel', width: 260 },
    { name: 'device', isMinor: true, width: 72 },
    { name: 'time_fraction', label: 'share', title: 'of the sum of kernel times' },
    'time_ps',
    'mean_time_ps',
    { name: 'occurrences', label: 'launches' },
    {
      name: 'occupancy_fraction',
      label: 'occupancy',
      title: 'warps that fit on a multiprocessor, of those it can hold'
    },
    'grid',
    'block',
    { name: 'registers_per_thread', label: 'registers', title: 'registers per thread' },
    {
      name: 'static_shared_bytes',
      label: 'static shared',
      title: 'shared memory the kernel declares, per block'
    },
    {
      name: 'dynamic_shared_bytes',
      label: 'dynamic shared',
      title: 'shared memory asked for at launch, per block'
    },
    { name: 'uses_tensor_cores', label: 'tensor cores', title: 'told from its name; – where nothing tells' },
    'bytes_per_s',
    'op',
    'kind',
    'framework_op'
  ],
  parts: (frame) => [new KernelBars(frame)]
});
