/** The roofline: how near the roofs the whole profile, its steps and its ops are, drawn and as a table. */
import type { Mount } from '../host';
import { type AnswerFrame, answerView } from '../shell/answer';
import { Selects } from '../shell/selects';
import { RooflineChart } from './chart';
import { choiceOfRow } from './choice';
import { boundOf } from './looks';
import style from './style.css?inline';

/** Draw the answer of a host into an element. */
export const mount: Mount = (host, el) => {
  let selects: Selects | null = null;
  const selectsOf = (frame: AnswerFrame) => {
    selects ??= new Selects(frame, [
      { name: 'level', all: 'all levels' },
      { name: 'category', all: 'all categories' },
      { name: 'bound_by', all: 'all bounds', label: (id) => `bound by ${boundOf(id).label}` }
    ]);
    return selects;
  };
  return answerView({
    label: 'roofline',
    styles: [style],
    columns: COLUMNS,
    parts: (frame) => [new RooflineChart(frame, selectsOf(frame))],
    tools: (frame) => selectsOf(frame).nodes,
    choiceOf: choiceOfRow
  })(host, el);
};

const COLUMNS = [
  'name',
  { name: 'level', isMinor: true, width: 80, title: 'The whole profile, a step or an op' },
  'time_ps',
  { name: 'time_fraction', label: 'of device time' },
  { name: 'flops_per_s', width: 116 },
  { name: 'hbm_arithmetic_intensity', label: 'FLOP/B of HBM', width: 136 },
  { name: 'attainable_flops_per_s', label: 'attainable', width: 116 },
  { name: 'efficiency_fraction', label: 'of nearest roof' },
  { name: 'bound_by', width: 96 },
  'flops_utilization',
  'hbm_utilization',
  { name: 'hbm_bytes_per_s', width: 104 },
  { name: 'category', width: 140 },
  { name: 'work_kind', width: 110 },
  { name: 'compute_dtype', width: 116 },
  { name: 'roof_dtype', width: 96 },
  'flops',
  'bytes_accessed',
  'occurrences',
  { name: 'arithmetic_intensity', label: 'FLOP/B of all bytes' },
  { name: 'vmem_read_arithmetic_intensity', label: 'FLOP/B of VMEM read' },
  { name: 'vmem_write_arithmetic_intensity', label: 'FLOP/B of VMEM write' },
  { name: 'link_arithmetic_intensity', label: 'FLOP/B of links' },
  'vmem_read_utilization',
  'vmem_write_utilization',
  'link_utilization',
  { name: 'program', width: 140 },
  { name: 'is_suspicious', label: 'above 105 %' }
];
