/** Taking text out of a view: the clipboard and files. */

/** Copy text; works without a secure context too. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) {
    await navigator.clipboard.writeText(text);
    return;
  }
  const area = document.createElement('textarea');
  area.value = text;
  area.style.position = 'fixed';
  area.style.opacity = '0';
  document.body.append(area);
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  if (!done) {
    throw new Error('The browser did not allow copying.');
  }
}

/** Offer text as a file to download. */
export function downloadText(name: string, text: string, type: string): void {
  download(name, new Blob([text], { type }));
}

/** Offer a file to download. */
export function download(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

/** A run name as a file name: anything a file system may refuse becomes a dash. */
export function fileName(stem: string, extension: string): string {
  const safe = stem.replace(/[^\p{L}\p{N}._-]+/gu, '-').replace(/^[-.]+|-+$/g, '');
  return `${safe || 'profile'}.${extension}`;
}
