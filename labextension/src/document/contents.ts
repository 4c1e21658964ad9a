/** How profiles come from the server's contents API: their names only. */
import { type Contents, RestContentProvider } from '@jupyterlab/services';

/** Serves metadata only: a profile never travels to the browser as one blob. */
export class MetadataOnlyProvider extends RestContentProvider {
  override async get(path: string, options?: Contents.IFetchOptions): Promise<Contents.IModel> {
    const model = await super.get(path, { ...options, content: false, hash: false });
    // Not writable: else JupyterLab copies the whole profile into .ipynb_checkpoints when it is first opened.
    return { ...model, content: '', format: 'base64', writable: false };
  }
}
