/** The mark of the extension: bars of a profile, each inside the one above. */
import { LabIcon } from '@jupyterlab/ui-components';

const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24"><g class="jp-icon3" fill="#616161">' +
  '<rect x="2" y="4" width="20" height="4" rx="1"/><rect x="2" y="10" width="13" height="4" rx="1"/>' +
  '<rect x="16" y="10" width="6" height="4" rx="1" opacity=".55"/><rect x="2" y="16" width="7" height="4" rx="1"/>' +
  '<rect x="10" y="16" width="5" height="4" rx="1" opacity=".55"/></g></svg>';

export const xprofIcon = new LabIcon({ name: 'xprof-nb:icon', svgstr: SVG });
