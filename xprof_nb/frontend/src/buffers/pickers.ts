/** Which program and which memory space the buffers are of. */
import { h } from '../dom';
import { bytes } from '../format';
import { liveHint } from '../hosts/static';
import type { AnswerFrame } from '../shell/answer';
import type { Need } from './rows';

export class Pickers {
  readonly node = h('div', { class: 'jp-XprofAnswer-bar' });

  constructor(private readonly _frame: AnswerFrame) {}

  update({ program, program_id, programs, memory, memory_space, spaces }: Need): void {
    const counts = new Map<string, number>();
    for (const { name } of programs) {
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    const programName = (name: string, id: string) =>
      (counts.get(name) ?? 0) > 1 ? `${name} (${id})` : name;
    const byProgram = programs.map(({ name, id, allocated_bytes }) => ({
      value: id,
      label: `${programName(name, id)}, ${bytes(allocated_bytes)}`
    }));
    const bySpace = spaces.map(({ space, name, peak_bytes }) => ({
      value: String(space),
      label: `${name}, peak ${bytes(peak_bytes)}`
    }));
    this.node.replaceChildren(
      this._picker('program', byProgram, { value: program_id, label: program }, (value) =>
        this._frame.ask('Opening the program', { program: value })
      ),
      this._picker('memory', bySpace, { value: String(memory_space), label: memory }, (value) =>
        this._frame.ask('Looking at the memory', { memory_space: Number(value), program: program_id })
      )
    );
  }

  private _picker(
    what: string,
    options: readonly Option[],
    chosen: Option,
    pick: (value: string) => void
  ): HTMLElement {
    const all = options.some(({ value }) => value === chosen.value) ? options : [chosen, ...options];
    const { isLive, host } = this._frame;
    const select = h(
      'select',
      {
        class: 'jp-XprofChoice jp-XprofBuffers-picker',
        title: isLive ? '' : `Saved as it was. ${liveHint(host.snapshot.run.path)}`,
        attrs: { 'aria-label': what },
        on: { change: () => pick(select.value) }
      },
      ...all.map(({ value, label }) => h('option', { attrs: { value } }, label))
    );
    select.value = chosen.value;
    select.disabled = !isLive;
    return h('label', {}, `${what} `, select);
  }
}

interface Option {
  readonly value: string;
  readonly label: string;
}
