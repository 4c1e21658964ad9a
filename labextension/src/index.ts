/** The plugins of the extension; each can be switched off alone. */
import { filesPlugin } from './document/files';
import { foldersPlugin } from './document/folders';
import { runsPlugin } from './document/runs';
import { launcherPlugin } from './launcher/plugin';
import { linksPlugin } from './links/plugin';
import { mimePlugin } from './mime/plugin';
import { panelPlugin } from './panel/plugin';

export default [panelPlugin, runsPlugin, filesPlugin, foldersPlugin, linksPlugin, launcherPlugin, mimePlugin];
