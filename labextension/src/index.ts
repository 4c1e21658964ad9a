/** The plugins of the extension; each can be switched off alone. */
import { documentPlugin } from './document/plugin';
import { linksPlugin } from './links/plugin';
import { mimePlugin } from './mime/plugin';
import { panelPlugin } from './panel/plugin';

export default [panelPlugin, documentPlugin, mimePlugin, linksPlugin];
