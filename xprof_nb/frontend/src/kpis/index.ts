/** The key figures as one self-contained module: a widget for anywidget, a function for static pages. */
import { widgetOf } from '../hosts/anywidget';
import { pageOf } from '../hosts/static';
import { mount } from './view';

export const mountPage = pageOf(mount);
export default widgetOf(mount);
