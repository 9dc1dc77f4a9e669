import { isCoded } from '../base/errors.ts';
import { type FileInfo, fileInfoSchema, fileQuerySchema } from '../contract/http/files.ts';
import type { FileStamp } from '../contract/threads/pool.ts';
import { defineRow, type Row } from '../http/row.ts';
import type { Callers, Files } from './callers.ts';
import { HEAD_BYTES, typeOfHead, typeOfName } from './content-type.ts';
import type { RouteContext } from './context.ts';
import type { Asker, Digests } from './digests.ts';
import type { HeldFiles } from './held-files.ts';

/** A file that changes each time it is looked at is given up after as many looks. */
const MOST_LOOKS = 3;

/** Files of this host by their absolute path (RPL-10, RPL-11, RPL-22). */
export function filesRows(
  callers: Pick<Callers, 'files'>,
  context: Pick<RouteContext, 'host'>,
  digests: Digests,
  held: HeldFiles,
): Row[] {
  const { files } = callers;
  return [
    defineRow({
      method: 'GET',
      path: '/api/v1/file',
      summary: 'The bytes of a file of this host',
      example: { query: 'path=/etc/hosts' },
      routing: 'owner',
      state: 'ready',
      query: fileQuerySchema,
      body_limit: 0,
      shared: true,
      sandbox: true,
      replies: { 200: 'content', 206: 'content', 304: 'empty' },
      async handler(request) {
        const { path } = request.query;
        const { stamp, mtime_ms, sha256 } = await digested(files, digests, path, request);
        const content_type = typeOfName(path) ?? (await typeOfContent(files, path, stamp));
        return {
          status: 200,
          content: held.content(path, stamp, sha256),
          // As the specification spells it; the quotes of HTTP would be double ones.
          etag: `W/'sha256-${sha256}'`,
          content_type,
          last_modified: mtime_ms,
        };
      },
    }),
    defineRow({
      method: 'GET',
      path: '/api/v1/file-info',
      summary: 'What lies at a path, without its bytes',
      example: { query: 'path=/etc/hosts' },
      routing: 'owner',
      state: 'ready',
      query: fileQuerySchema,
      body_limit: 0,
      shared: true,
      replies: { 200: fileInfoSchema },
      async handler({ query }) {
        return { status: 200, json: await fileInfo(files, context.host, query.path) };
      },
    }),
  ];
}

/** A file as it was at one moment, and its digest; asks again when it changes meanwhile. */
async function digested(
  files: Files,
  digests: Digests,
  path: string,
  asker: Asker,
): Promise<{ stamp: FileStamp; mtime_ms: number; sha256: string }> {
  for (let looks = 1; ; looks += 1) {
    const { stamp, mtime_ms } = await files.stamp(path);
    try {
      return { stamp, mtime_ms, sha256: await digests.of(path, stamp, asker) };
    } catch (error) {
      if (looks >= MOST_LOOKS || !isCoded(error, 'file_changed')) throw error;
    }
  }
}

async function typeOfContent(files: Files, path: string, stamp: FileStamp): Promise<string> {
  const head = await files.head(path, stamp, HEAD_BYTES);
  return typeOfHead(head, head.length === stamp.size);
}

async function fileInfo(files: Files, host: string, path: string): Promise<FileInfo> {
  const found = await files.stat(path);
  const nothing = { size: null, mtime_ms: null, content_type: null };
  if (found.kind === 'missing') return { path, host, exists: false, kind: null, ...nothing };
  if (found.kind !== 'file')
    return { path, host, exists: true, kind: found.kind, ...nothing, mtime_ms: found.mtime_ms };
  const { stamp, mtime_ms } = found;
  return {
    path,
    host,
    exists: true,
    kind: 'file',
    size: stamp.size,
    mtime_ms,
    content_type: typeOfName(path),
  };
}
