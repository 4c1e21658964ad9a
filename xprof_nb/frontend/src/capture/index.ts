/** `%xprof panel` as one self-contained module for anywidget. */
import type { WidgetModel } from '../hosts/anywidget';
import { mountCapture, type Opener } from './control';
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
    const opener = (label: string, view: string): Opener => ({
      label,
      open: ({ path }) => talk.send({ do: 'show', path, view })
    });
    const openers = [opener('Op profile', 'op_profile'), opener('All views', 'explore')];
    const mounted = mountCapture(el, talk, openers);
    return () => mounted.dispose();
  }
};
