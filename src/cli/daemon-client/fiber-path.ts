/** The part of a URL that names a fiber: its canonical id with each component encoded. */
export function fiberPath(id: string): string {
  return id.split('/').map(encodeURIComponent).join('/');
}
