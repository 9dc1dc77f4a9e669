import { readsOf } from './composite.ts';
import { nameOf } from './life.ts';
import type { SentFilesComposite, SentFilesRow } from './wire.ts';

/** What a fiber sent since a moment, in milliseconds since the Unix epoch. */
export type Sent = { uid: string; since: number };

export type SentFile = { path: string; name: string; at: number };

/** What was sent, each file once with its last time, the newest first. */
export function sentFiles(rows: readonly SentFilesRow[]): SentFile[] {
  const files = new Map<string, SentFile>();
  for (const { at, files: paths } of rows)
    for (const path of paths) {
      const known = files.get(path);
      if (known === undefined || known.at < at) files.set(path, { path, name: nameOf(path), at });
    }
  return [...files.values()].sort((a, b) => b.at - a.at);
}

/** What a fiber sent from all hosts, each with its host, the newest first. */
export function filesSent(
  composite: SentFilesComposite,
  { uid, since }: Sent,
): (SentFile & { origin: string })[] {
  return readsOf(composite)
    .flatMap(({ host, read }) =>
      sentFiles(read.sent_files.filter((row) => row.uid === uid && row.at >= since)).map((file) => ({
        ...file,
        origin: host,
      })),
    )
    .sort((a, b) => b.at - a.at);
}

/** How a file is shown, by the type that the daemon tells; `page` in a frame without any right. */
export function viewOf(content_type: string | null, path: string): 'picture' | 'page' | 'link' {
  if (content_type?.startsWith('image/')) return 'picture';
  return content_type?.startsWith('text/html') || /\.html?$/i.test(path) ? 'page' : 'link';
}
