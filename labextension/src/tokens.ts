/** The names this extension is known by to JupyterLab, its users and its server. */

/** Version of this front end; a server of another version is pointed out. */
export const VERSION = '0.1.0';

export namespace PluginIDs {
  export const panel = 'xprof-nb:panel';
  export const runs = 'xprof-nb:runs';
  export const documents = 'xprof-nb:documents';
  export const folders = 'xprof-nb:folders';
  export const links = 'xprof-nb:links';
  export const launcher = 'xprof-nb:launcher';
  export const mime = 'xprof-nb:mime';
}

export namespace CommandIDs {
  export const openPanel = 'xprof-nb:open-panel';
  export const openRun = 'xprof-nb:open-run';
  export const openFolder = 'xprof-nb:open-folder';
  export const restoreFile = 'xprof-nb:restore-file';
  export const openLink = 'xprof-nb:open-link';
  export const copyLink = 'xprof-nb:copy-link';
  export const newQuickstart = 'xprof-nb:new-quickstart';
  export const refreshRuns = 'xprof-nb:refresh-runs';
}

/** What is done with the runs of the panel. */
export namespace RunCommandIDs {
  export const open = 'xprof-nb:open-chosen';
  export const openView = 'xprof-nb:open-view';
  export const compare = 'xprof-nb:compare';
  export const compareWith = 'xprof-nb:compare-with';
  export const insertCode = 'xprof-nb:insert-code';
  export const rename = 'xprof-nb:rename-run';
  export const editNote = 'xprof-nb:edit-note';
  export const editTags = 'xprof-nb:edit-tags';
  export const export_ = 'xprof-nb:export-run';
  export const import_ = 'xprof-nb:import-run';
  export const discard = 'xprof-nb:discard-run';
  export const copyRunLink = 'xprof-nb:copy-run-link';
  export const copyPath = 'xprof-nb:copy-path';
  export const copyPython = 'xprof-nb:copy-python';
}

export const PANEL_ID = 'xprof-nb-panel';
export const PALETTE_CATEGORY = 'XProf';
export const TRANSLATION_DOMAIN = 'xprof_nb';
export const FILE_TYPE = 'xplane';
export const TRACE_FILE_TYPE = 'xprof-trace';
/** How the names of files end that are opened as documents; the server reads them, not the browser. */
export const PROFILE_ENDINGS: readonly string[] = ['.xplane.pb'];
export const TRACE_ENDINGS: readonly string[] = ['.trace.json.gz', '.trace.json'];
export const FACTORY = 'XProf';
export const CONTENT_PROVIDER = 'xprof-nb-metadata';
/** The view of a document: all views of its run. */
export const EXPLORER = 'explore';
