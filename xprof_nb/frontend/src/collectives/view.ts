/** Collectives: what communication cost, by kind, by step and by op. */
import { answerView } from '../shell/answer';
import { CollectivesPart } from './part';

export const mount = answerView({
  label: 'collectives',
  columns: [
    { name: 'op', width: 200 },
    { name: 'device', isMinor: true, width: 88 },
    { name: 'kind', isMinor: true, width: 128 },
    {
      name: 'exposed_time_ps',
      label: 'exposed',
      title: 'Time in which it moved data and no op of the device computed'
    },
    { name: 'exposed_fraction', isMinor: true, label: 'of its time' },
    { name: 'exposed_per_step_ps', label: 'exposed a step' },
    { name: 'time_ps', title: 'From start to done, of all occurrences' },
    {
      name: 'wait_time_ps',
      label: 'waited',
      title: 'Longer than on the device that was fastest in the same occurrence'
    },
    { name: 'occurrences', label: 'count' },
    { name: 'payload_bytes', label: 'payload', title: 'Of one occurrence, as nccl-tests counts it' },
    { name: 'algorithm_bytes_per_s', label: 'algorithm B/s', title: 'Payload over time' },
    {
      name: 'bus_bytes_per_s',
      label: 'bus B/s',
      title: 'Algorithm bandwidth times what each link carries for it'
    },
    { name: 'link_utilization', label: 'of link peak' },
    { name: 'is_async', label: 'async' },
    { name: 'dtype', width: 72 },
    { name: 'group_size', label: 'group' },
    { name: 'replica_groups', width: 160 },
    { name: 'scope', width: 200 },
    { name: 'source', width: 200 },
    { name: 'program', width: 160 },
    { name: 'host', width: 120 }
  ],
  parts: (frame) => [new CollectivesPart(frame)]
});
