/** `%xprof panel` as one self-contained module for anywidget. */
import type { WidgetModel } from '../hosts/anywidget';
import { mountCapture } from './control';
import type { Talk } from './talk';

export default {
  render({ model, el }: { model: WidgetModel; el: HTMLElement }): () => void {
    const talk: Talk = {
      send: (message) => model.send(message),
      listen: (heard) => {
        const listener = (message: unknown) => heard(message);
        model.on('msg:custom', listener);
        return () => model.off('msg:custom', listener);
      }
    };
    const mounted = mountCapture(el, talk, (run, view) => talk.send({ do: 'show', path: run.path, view }));
    return () => mounted.dispose();
  }
};
