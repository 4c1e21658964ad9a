/** The address of a run in this JupyterLab. */
import { PageConfig } from '@jupyterlab/coreutils';
import { PROFILE_ENDINGS, TRACE_ENDINGS } from '../tokens';
import { encodeTarget, PARAMETER, type Target } from './code';

/** An address that opens a run as it stands: a path below the root folder is readable in it. */
export function addressOf({ run, state }: Target): string {
  const isReadable = isBelowRoot(run);
  const page = PageConfig.getUrl({
    mode: 'multiple-document',
    workspace: PageConfig.defaultWorkspace,
    treePath: isReadable ? run : '',
    toShare: true
  });
  const code = encodeTarget({ run: isReadable ? '' : run, state });
  return `${page}?${PARAMETER}=${code}`;
}

/** Whether a path counts from the root folder of the server, as those of the file browser do. */
export function isBelowRoot(path: string): boolean {
  return !/^(?:[/\\]|[a-z][\w+.-]*:)/i.test(path);
}

/** The code of a link in the query of an address; null where there is none. */
export function codeIn(search: string): string | null {
  return new URLSearchParams(search).get(PARAMETER);
}

/** The query without the link. */
export function withoutCode(search: string): string {
  const parameters = new URLSearchParams(search);
  parameters.delete(PARAMETER);
  const rest = parameters.toString();
  return rest === '' ? '' : `?${rest}`;
}

/** Whether a path is one of the files that open as documents. */
export function isFile(path: string): boolean {
  const name = path.toLowerCase();
  return [...PROFILE_ENDINGS, ...TRACE_ENDINGS].some((ending) => name.endsWith(ending));
}
