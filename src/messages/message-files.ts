import { rmdir, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { systemCode } from '../base/errors.ts';
import { Mutex } from '../base/mutex.ts';
import type { StoredFile } from '../contract/http/attachments.ts';
import type { BulkFile } from '../contract/threads/bulk-file.ts';
import type { poolJobs } from '../contract/threads/pool.ts';

/** The files of a message as they came: `bytes` has them one after the other. */
type SentFiles = { files: readonly BulkFile[]; bytes: Uint8Array | null };

/** Keeps files of messages on this host, where the agents can read them. */
export type FileKeeper = {
  /** Where the files of a message are kept; writes nothing. */
  placesOf(message_id: string, files: readonly BulkFile[]): Promise<StoredFile[]>;
  /** Durable when it resolves; rejects with `store_unavailable`, with nothing left. */
  keep(message_id: string, sent: SentFiles): Promise<StoredFile[]>;
  /** Deletes files of a message that no session was given. */
  drop(files: readonly StoredFile[]): Promise<void>;
};

type Store = (typeof poolJobs)['store_attachments'];

/** The work with the bytes is done by `store`, one message at a time, so that the pool has threads for others. */
export function createFileKeeper(
  folder: string,
  store: (input: Store['input']['_input'], bulk: Uint8Array | null) => Promise<Store['output']['_output']>,
): FileKeeper {
  const storing = new Mutex();
  const run = async (
    message_id: string,
    { files, bytes }: SentFiles,
    dry_run: boolean,
  ): Promise<StoredFile[]> => {
    return (await store({ folder, of: { message_id }, files: [...files], dry_run }, bytes)).files;
  };
  return {
    placesOf: async (message_id, files) =>
      files.length === 0 ? [] : run(message_id, { files, bytes: null }, true),
    // A message without files does not wait for those of others.
    keep: async (message_id, sent) =>
      sent.files.length === 0 ? [] : storing.run(() => run(message_id, sent, false)),
    async drop(files) {
      const [first] = files;
      if (first === undefined) return;
      for (const { path } of files) await quietly(unlink(path));
      await quietly(rmdir(dirname(first.path)));
    },
  };
}

/** What cannot be deleted is left for the sweep of old attachments. */
async function quietly(step: Promise<void>): Promise<void> {
  try {
    await step;
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
  }
}
