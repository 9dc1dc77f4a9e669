/** The name that tells a folder from others: its last part. */
export function folderName(path: string): string {
  return path.split('/').findLast((part) => part !== '') ?? path;
}
