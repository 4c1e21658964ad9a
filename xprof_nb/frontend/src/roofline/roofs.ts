/** The roofs of an answer: what bounds a FLOP rate at an arithmetic intensity, and who vouches for it. */
import { byteRate, flopRate, significant } from '../format';
import type { Summary } from '../host';
import { number, record, text } from '../payload';

export interface Roof {
  /** An element type, a memory level or the links. */
  readonly name: string;
  readonly isMemory: boolean;
  /** FLOP/s, or bytes per second of a memory. */
  readonly value: number;
  /** `datasheet`, `measured`, `profile`, `computed` or `user`. */
  readonly label: string;
  readonly source: string;
  /** Another one is believed. */
  readonly isOther: boolean;
}

/** Where the roof of a memory meets that of an element type. */
export interface Ridge {
  readonly memory: Roof;
  readonly compute: Roof;
  /** Element types of that roof, `bf16, f16`. */
  readonly dtypes: string;
  readonly flopsPerByte: number;
  readonly flopsPerS: number;
}

/** Every roof an answer knows: those believed, then what others say. */
export function roofsOf(summary: Summary): Roof[] {
  return [...listOf(summary.roofs, false), ...listOf(summary.other_roofs, true)];
}

function listOf(value: Summary[string], isOther: boolean): Roof[] {
  return (Array.isArray(value) ? value : []).map(record).map((roof) => ({
    name: text(roof.name),
    isMemory: roof.kind !== 'compute',
    value: number(roof.value),
    label: text(roof.label),
    source: text(roof.source),
    isOther
  }));
}

/** Roofs of equal height, which are one line: by value, who says so and whether they are believed. */
export function merged(roofs: readonly Roof[]): (Roof & { readonly names: string })[] {
  const lines = new Map<string, Roof[]>();
  for (const roof of roofs) {
    const key = `${roof.isMemory} ${roof.value} ${roof.label} ${roof.isOther}`;
    lines.set(key, [...(lines.get(key) ?? []), roof]);
  }
  return [...lines.values()].map((same) => ({
    ...(same[0] as Roof),
    names: same.map(({ name }) => name).join(', ')
  }));
}

/** Where the believed roof of one memory meets those of all element types. */
export function ridgesOf(roofs: readonly Roof[], level: string): Ridge[] {
  const believed = roofs.filter(({ isOther }) => !isOther);
  const memory = believed.find(({ name, isMemory }) => isMemory && name === level);
  return memory === undefined
    ? []
    : merged(believed.filter(({ isMemory }) => !isMemory)).map((compute) => ({
        memory,
        compute,
        dtypes: compute.names,
        flopsPerByte: compute.value / memory.value,
        flopsPerS: compute.value
      }));
}

/** Marks so near to each other on a logarithmic axis that their labels would overlap, the highest first. */
export function clusters<T>(items: readonly T[], heightOf: (item: T) => number, factor: number): T[][] {
  const found: T[][] = [];
  for (const item of [...items].sort((a, b) => heightOf(b) - heightOf(a))) {
    const last = found[found.length - 1];
    const near = last?.[last.length - 1];
    if (last !== undefined && near !== undefined && heightOf(near) / heightOf(item) < factor) {
      last.push(item);
    } else {
      found.push([item]);
    }
  }
  return found;
}

/** `bf16 191 · f32 160 GFLOP/s (measured)`: one label of several roofs, a unit or a word that they share said once. */
export function roofsText(roofs: readonly (Roof & { readonly names?: string })[]): string {
  const rates = roofs.map(
    (roof) =>
      roofText(roof)
        .match(/^(.*\S) (\S+) (\(.*\))$/)
        ?.slice(1) ?? []
  );
  return rates
    .map(([value = '', unit = '', label = ''], index) => {
      const [, nextUnit, nextLabel] = rates[index + 1] ?? [];
      const isSaidNext = unit === nextUnit && label === nextLabel;
      return isSaidNext ? value : `${value} ${unit} ${label}`;
    })
    .join(' · ');
}

/** A label in the room there is, in characters: without who vouches for it, then the first alone. */
export function shortened(text: string, room: number): string {
  const bare = text.replaceAll(/ \([^)]*\)/g, '');
  const [first = '', ...others] = bare.split(' · ');
  // A unit that several share is said with the last of them.
  const unit = /[A-Za-z]+\/[A-Za-z]+$/;
  const alone = unit.test(first) ? first : `${first} ${unit.exec(bare)?.[0] ?? ''}`;
  return [text, bare].find(({ length }) => length <= room) ?? (others.length === 0 ? bare : `${alone} …`);
}

/** `HBM 1.64 TB/s (profile)`. */
export function roofText(roof: Roof & { readonly names?: string }): string {
  const rate = roof.isMemory ? byteRate(roof.value) : flopRate(roof.value);
  return `${roof.isMemory ? levelName(roof.name) : (roof.names ?? roof.name)} ${rate} (${roof.label})`;
}

export function ridgeText(ridge: Ridge): string {
  return `${significant(ridge.flopsPerByte)} FLOP/B`;
}

/** `22.5 · 18.9 FLOP/B (datasheet ÷ measured)`: one label of several ridges, and whose peaks they are of. */
export function ridgesText(ridges: readonly Ridge[]): string {
  const values = new Set(ridges.map((ridge) => significant(ridge.flopsPerByte)));
  const labels = [({ compute }: Ridge) => compute, ({ memory }: Ridge) => memory]
    .map((roofOf) => [...new Set(ridges.map((ridge) => roofOf(ridge).label))].join(' or '))
    .filter((label, index, both) => both.indexOf(label) === index);
  return `${[...values].join(' · ')} FLOP/B (${labels.join(' ÷ ')})`;
}

const LEVEL_NAMES: Readonly<Record<string, string>> = {
  hbm: 'HBM',
  vmem_read: 'VMEM read',
  vmem_write: 'VMEM write',
  cmem_read: 'CMEM read',
  cmem_write: 'CMEM write',
  link: 'links',
  '': 'bytes accessed'
};

/** A memory level as people call it. */
export function levelName(level: string): string {
  return LEVEL_NAMES[level] ?? level.replaceAll('_', ' ');
}
