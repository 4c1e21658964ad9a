/** What keys do in the graph. */
import type { KeyBinding } from '../keys';
import type { Stage } from './stage';
import { type Direction, neighbourOf } from './walk';

export interface KeyActions {
  center(op: string): void;
  choose(op: string): void;
  fold(op: string): void;
  back(): void;
}

const ZOOM = 1.25;
const PAN_PX = 60;
const MOVES: readonly (readonly [string, string, Direction, number, number])[] = [
  ['ArrowUp', '↑', 'up', 0, 1],
  ['ArrowDown', '↓', 'down', 0, -1],
  ['ArrowLeft', '←', 'left', 1, 0],
  ['ArrowRight', '→', 'right', -1, 0]
];
const WHERE: Record<Direction, string> = {
  up: 'to an op it reads',
  down: 'to an op that reads it',
  left: 'to the op on its left',
  right: 'to the op on its right'
};

export function graphKeys(stage: Stage, actions: KeyActions): readonly KeyBinding[] {
  const moves = MOVES.map(([key, label, direction, x, y]) => ({
    keys: [key],
    label,
    what: `in the graph: ${WHERE[direction]}; with Shift, pan`,
    run: (event: KeyboardEvent) => {
      const to = neighbourOf(stage.scene, stage.current, direction);
      if (event.shiftKey) {
        stage.pan(x * PAN_PX, y * PAN_PX);
      } else if (to !== null) {
        stage.focus(to);
      }
    }
  }));
  const binding = (keys: readonly string[], label: string, what: string, run: () => void) => ({
    keys,
    label,
    what,
    run
  });
  return [
    ...moves,
    binding(['Enter'], 'Enter', 'show what is around the op', () => actions.center(stage.current)),
    binding([' '], 'Space', 'choose the op: the other views follow', () => actions.choose(stage.current)),
    binding(['e'], 'e', 'expand or collapse a fusion; go into a loop, call or branch', () =>
      actions.fold(stage.current)
    ),
    binding(['f'], 'f', 'zoom to the op', () => stage.reveal(stage.current, true)),
    binding(['+', '='], '+', 'zoom in', () => stage.zoom(ZOOM)),
    binding(['-'], '-', 'zoom out', () => stage.zoom(1 / ZOOM)),
    binding(['0'], '0', 'show all of it', () => stage.fit()),
    binding(['Backspace'], 'Backspace', 'back to the op before', () => actions.back())
  ];
}
