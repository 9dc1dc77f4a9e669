import { constants } from 'node:fs';
import { open, statfs } from 'node:fs/promises';
import { withPath } from './file-error.ts';

/** A file of ours that is written at positions; what is skipped reads as zeros. */
export type PositionedFile = {
  /** Writes all of these bytes; throws the system error, which names the file. */
  write(bytes: Uint8Array, position: number): Promise<void>;
  /** Bytes that this user may still write to its disk. */
  freeBytes(): Promise<number>;
  close(): Promise<void>;
};

/** Makes a new file (0600); throws the system error, `EEXIST` where one is there. */
export async function createPositionedFile(path: string): Promise<PositionedFile> {
  const file = await open(path, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, 0o600);
  return {
    async write(bytes, position) {
      try {
        for (let done = 0; done < bytes.length; )
          done += (await file.write(bytes, done, bytes.length - done, position + done)).bytesWritten;
      } catch (error) {
        throw withPath(error, path);
      }
    },
    async freeBytes() {
      const { bavail, bsize } = await statfs(path);
      return bavail * bsize;
    },
    close: () => file.close(),
  };
}
