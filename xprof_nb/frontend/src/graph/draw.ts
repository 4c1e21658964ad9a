/** Draws a scene as SVG: boxes with name, opcode and shape, lines with arrows. Text always goes in as text. */
import { bytes, count, percent, time } from '../format';
import { kindOf } from '../kinds';
import type { Point } from './layout';
import type { Op } from './model';
import { type Box, HEAD_HEIGHT, type Line, OP_HEIGHT, type Scene } from './scene';

export const MEASURES = ['kind', 'time', 'bytes'] as const;
/** What the strength of an op's colour says. */
export type Measure = (typeof MEASURES)[number];

const NAMESPACE = 'http://www.w3.org/2000/svg';
const NAME_CHARACTERS = 23;
const LINE_CHARACTERS = 29;
const PALEST = 0.06;
const STRONGEST = 0.6;
const KIND_OPACITY = 0.14;
const ARROW = { length: 7, half: 3.5 };

type Attributes = Readonly<Record<string, string | number>>;

/** An SVG element. */
export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly (Node | string)[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS(NAMESPACE, tag) as SVGElementTagNameMap[K];
  for (const [name, value] of Object.entries(attributes)) {
    element.setAttribute(name, String(value));
  }
  element.append(...children);
  return element;
}

/** Everything of a scene: lines below the boxes they join, except those inside a box. */
export function drawScene(scene: Scene, measure: Measure, center: string): SVGGElement {
  const most = Math.max(
    0,
    ...scene.boxes.map(({ op }) => measureOf(op, measure)).filter((value) => value > 0)
  );
  const around = drawnNeighbours(scene);
  const boxes = scene.boxes.map((box) => {
    const group = drawBox(box, measure, most, box.op.name === center);
    group.append(...hidden(box, around.get(box.op.name)));
    return group;
  });
  const isOpen = scene.boxes.map((box) => box.isOpen);
  return svg(
    'g',
    {},
    ...boxes.filter((_, number) => isOpen[number]),
    ...scene.lines.map(drawLine),
    ...boxes.filter((_, number) => !isOpen[number])
  );
}

interface Around {
  operands: number;
  users: number;
}

/** How many of the ops that an op reads and is read by are drawn. */
function drawnNeighbours(scene: Scene): ReadonlyMap<string, Around> {
  const found = new Map<string, Around>(scene.boxes.map(({ op }) => [op.name, { operands: 0, users: 0 }]));
  for (const { edges } of scene.lines) {
    const [from, to] = [found.get(edges[0]?.from ?? ''), found.get(edges[0]?.to ?? '')];
    if (from !== undefined && to !== undefined) {
      from.users += 1;
      to.operands += 1;
    }
  }
  return found;
}

/** How many neighbours are not drawn: above what it reads, below who reads it. */
function hidden({ op, width, height }: Box, around: Around | undefined): SVGTextElement[] {
  const above = op.operands - (around?.operands ?? 0);
  const below = op.users - (around?.users ?? 0);
  const more = (words: string, y: number) =>
    svg('text', { class: 'jp-XprofGraph-more', x: round(width), y, 'text-anchor': 'end' }, words);
  return [
    ...(above > 0 ? [more(`↑ ${count(above)} more`, -4)] : []),
    ...(below > 0 ? [more(`↓ ${count(below)} more`, round(height) + 12)] : [])
  ];
}

/** The value of an op that its colour tells; NaN when it is unknown, or the kind is all that is told. */
export function measureOf(op: Op, measure: Measure): number {
  return measure === 'kind' ? Number.NaN : measure === 'time' ? op.self_time_ps : op.bytes_accessed;
}

/** What the third line of an op says. */
export function valueText(op: Op, measure: Measure, most: number): string {
  const value = measureOf(op, measure);
  if (measure === 'kind') {
    return [Number.isNaN(op.self_time_ps) ? '' : time(op.self_time_ps), op.category]
      .filter(Boolean)
      .join(' · ');
  }
  const written = measure === 'time' ? time(value) : bytes(value);
  return value > 0 && most > 0 ? `${written}, ${percent(value / most)} of most` : written;
}

/** How strong the colour of an op is. */
export function strength(op: Op, measure: Measure, most: number): number {
  if (measure === 'kind') {
    return KIND_OPACITY;
  }
  const value = measureOf(op, measure);
  return value > 0 && most > 0 ? PALEST + (STRONGEST - PALEST) * (value / most) : 0;
}

/** What a screen reader says of an op. */
export function described(op: Op): string {
  const measured = Number.isNaN(op.self_time_ps) ? '' : `self time ${time(op.self_time_ps)}`;
  const around = `reads ${count(op.operands)}, read by ${count(op.users)}`;
  const kind = kindOf(op.kind).label;
  return [op.name, op.opcode, op.shape, kind, measured, around].filter(Boolean).join(', ');
}

function drawBox(box: Box, measure: Measure, most: number, isCenter: boolean): SVGGElement {
  const { op, x, y, width, height, isOpen, inner } = box;
  const kind = kindOf(op.kind);
  const fold = inner > 0 || isFolded(op);
  const leads = !fold && leadsInside(op);
  const group = svg(
    'g',
    {
      class: `jp-XprofGraph-op${isOpen ? ' jp-mod-open' : ''}${isCenter ? ' jp-mod-center' : ''}`,
      transform: `translate(${round(x)} ${round(y)})`,
      role: 'button',
      tabindex: -1,
      'aria-label': described(op),
      'data-op': op.name,
      'data-kind': kind.id,
      ...(fold ? { 'aria-expanded': String(isOpen) } : {})
    },
    svg('rect', { class: 'jp-XprofGraph-ground', width: round(width), height: round(height), rx: 4 }),
    svg('rect', {
      class: 'jp-XprofGraph-face',
      width: round(width),
      height: round(height),
      rx: 4,
      'fill-opacity': isOpen ? 0.04 : strength(op, measure, most).toFixed(3)
    }),
    svg('rect', { class: 'jp-XprofGraph-kind', width: 4, height: round(height), rx: 2 }),
    label('jp-XprofGraph-glyph', 11, 17, kind.shape),
    label('jp-XprofGraph-name', 26, 17, elided(op.name, NAME_CHARACTERS))
  );
  if (!isOpen) {
    group.append(
      label('jp-XprofGraph-line', 12, 32, begun(`${op.opcode} ${withoutLayout(op.shape)}`)),
      label('jp-XprofGraph-line', 12, 46, begun(valueText(op, measure, most)))
    );
  }
  if (fold || leads) {
    const words = leads ? '↘' : isOpen ? '▾' : '▸';
    group.append(
      svg(
        'g',
        { class: 'jp-XprofGraph-fold', 'data-fold': op.name, transform: `translate(${round(width - 22)} 4)` },
        svg('rect', { width: 18, height: 16, rx: 3 }),
        label('', 4, 12, words)
      )
    );
  }
  return group;
}

/** Whether something is fused into an op, drawn or not. */
export function isFolded({ opcode, called }: Op): boolean {
  return opcode === 'fusion' && called.length > 0;
}

const CONTROL = ['while', 'call', 'conditional', 'async-start'];

/** Whether an op runs computations of their own: to be gone into, since they are as large as programs. */
export function leadsInside({ opcode, called }: Op): boolean {
  return CONTROL.includes(opcode) && called.length > 0;
}

function drawLine({ edges, points }: Line): SVGGElement {
  const [first] = edges;
  const path = pathOf(points);
  return svg(
    'g',
    { class: 'jp-XprofGraph-edge', 'data-from': first?.from ?? '', 'data-to': first?.to ?? '' },
    svg('path', { class: 'jp-XprofGraph-reach', d: path }),
    svg('path', { class: 'jp-XprofGraph-path', d: path }),
    svg('path', { class: 'jp-XprofGraph-arrow', d: arrowOf(points) })
  );
}

/** A smooth line through points, ending straight. */
export function pathOf(points: readonly Point[]): string {
  const [first, ...rest] = points;
  const last = rest.at(-1);
  if (first === undefined || last === undefined) {
    return '';
  }
  const parts = [`M${at(first)}`];
  rest.slice(0, -1).forEach((point, number) => {
    const next = rest[number + 1] ?? last;
    parts.push(`Q${at(point)} ${at({ x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 })}`);
  });
  return `${parts.join('')}L${at(last)}`;
}

function arrowOf(points: readonly Point[]): string {
  const tip = points.at(-1);
  const before = points.at(-2);
  if (tip === undefined || before === undefined) {
    return '';
  }
  const length = Math.hypot(tip.x - before.x, tip.y - before.y) || 1;
  const [dx, dy] = [(tip.x - before.x) / length, (tip.y - before.y) / length];
  const foot = { x: tip.x - dx * ARROW.length, y: tip.y - dy * ARROW.length };
  const side = (sign: number) => ({ x: foot.x - sign * dy * ARROW.half, y: foot.y + sign * dx * ARROW.half });
  return `M${at(tip)}L${at(side(1))}L${at(side(-1))}Z`;
}

function label(name: string, x: number, y: number, text: string): SVGTextElement {
  return svg('text', { class: name, x, y }, text);
}

/** A text without control characters; of one that is too long the beginning and the end, where names differ. */
export function elided(whole: string, most: number): string {
  const text = shown(whole);
  if (text.length <= most) {
    return text;
  }
  const end = Math.floor((most - 1) / 3);
  return `${text.slice(0, most - 1 - end)}…${text.slice(text.length - end)}`;
}

function shown(text: string): string {
  return text.replace(/\p{C}/gu, '\ufffd');
}

function begun(whole: string): string {
  const text = shown(whole);
  return text.length > LINE_CHARACTERS ? `${text.slice(0, LINE_CHARACTERS - 1)}…` : text;
}

/** `bf16[8,128]` of `bf16[8,128]{1,0:T(8,128)}`: hovering says the layout too. */
function withoutLayout(shape: string): string {
  return shape.replace(/\{[^}]*\}/g, '');
}

function at({ x, y }: Point): string {
  return `${round(x)} ${round(y)}`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** The point of a box that a view looks at. */
export function middleOf({ x, y, width, height, isOpen }: Box): Point {
  return { x: x + width / 2, y: y + (isOpen ? HEAD_HEIGHT : Math.min(height, OP_HEIGHT)) / 2 };
}
