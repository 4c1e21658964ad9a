/** What the pointer does on each strip: the tracks, the axis, the minimap. */
import type { Camera } from './camera';
import type { Choices } from './choices';
import type { Controller } from './controller';
import type { HoverCard } from './hover_card';
import { gripAt } from './minimap';
import type { Painter } from './painter';
import { dragAlong, type Point, Pointer } from './pointer';
import { Scale, type Span, shifted, spanOf } from './span';
import type { Stage } from './stage';
import type { State } from './state';
import { describe } from './words';

export interface Hands {
  readonly state: State;
  readonly stage: Stage;
  readonly painter: Painter;
  readonly camera: Camera;
  readonly control: Controller;
  readonly choices: Choices;
  readonly card: HoverCard;
  menu(at: Point, clientX: number, clientY: number): void;
}

/** Listen to the pointer; returns how to stop. */
export function attachGestures(hands: Hands): () => void {
  dragAlong(hands.stage.rulerBox, (x) => dragRuler(hands, x));
  dragAlong(hands.stage.minimapBox, (x) => dragMinimap(hands, x));
  const pointer = onTracks(hands);
  return () => pointer.dispose();
}

function onTracks({ stage, control, choices, card, menu, state, painter }: Hands): Pointer {
  return new Pointer(stage.area, {
    zoom: (factor, x) => {
      card.hide();
      control.zoom(factor, x);
    },
    pan: (byX, byY) => {
      card.hide();
      control.pan(byX, byY);
    },
    hover: (point) => {
      const picked = control.hover(point);
      const track = picked === null ? undefined : state.tracks.get(picked.track);
      if (picked === null || track === undefined || point === null) {
        card.hide();
        return;
      }
      const { left, top } = stage.area.getBoundingClientRect();
      card.show(describe(picked, track, painter.scale.psPerPixel), left + point.x, top + point.y);
    },
    click: (point) => control.click(point),
    doubleClick: (point) => control.doubleClick(point),
    select: (from, to, isDone) => {
      card.hide();
      choices.drawArea(from, to, isDone);
    },
    menu: (at, clientX, clientY) => {
      card.hide();
      menu(at, clientX, clientY);
    }
  });
}

/** A drag on the axis chooses a stretch of time; a click there chooses nothing any more. */
function dragRuler({ choices, painter }: Hands, from: number) {
  const span = (x: number) => spanOf(painter.scale.time(from), painter.scale.time(x));
  return {
    move: (x: number) => choices.selectSpan(span(x), false),
    end: (x: number, isDrag: boolean) => {
      if (isDrag) {
        choices.selectSpan(span(x), true);
      } else {
        choices.clearSelection();
      }
    }
  };
}

/** A drag on the minimap moves the window, one of its edges, or draws a new one. */
function dragMinimap({ stage, camera, state }: Hands, from: number) {
  const { bounds } = state;
  const scale = new Scale(bounds, stage.width);
  const window = camera.target;
  const grip = gripAt(from, scale, window);
  const to = (x: number): Span => {
    const time = scale.time(x);
    switch (grip) {
      case 'start':
        return spanOf(time, window.end);
      case 'end':
        return spanOf(window.start, time);
      case 'move':
        return shifted(window, time - scale.time(from), bounds);
      default:
        return spanOf(scale.time(from), time);
    }
  };
  return {
    move: (x: number) => camera.move(to(x), 'minimap'),
    end: (x: number, isDrag: boolean) => {
      if (!isDrag) {
        const middle = (window.start + window.end) / 2;
        camera.glide(shifted(window, scale.time(x) - middle, bounds), 'minimap');
      }
    }
  };
}
