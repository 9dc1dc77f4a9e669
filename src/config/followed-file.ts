import { statSync } from 'node:fs';
import { messageOf } from '../base/errors.ts';
import { type Disks, hasAnswered } from '../platform/disks.ts';

/** An operator file that is taken up again where it moved, and never read while its disk does not answer. */
export class FollowedFile {
  readonly #path: string;
  readonly #disks: Pick<Disks, 'check'>;
  readonly #takeUp: (exists: boolean) => void;
  #stamp: string | undefined;

  /** `takeUp` reads the file; it is called for its first version as well, and for a file that is missing or gone. */
  constructor(path: string, options: { disks: Pick<Disks, 'check'>; takeUp(exists: boolean): void }) {
    this.#path = path;
    this.#disks = options.disks;
    this.#takeUp = options.takeUp;
  }

  /** Takes the file up where it moved since the last look; leaves everything as it is where its disk does not answer. */
  async look(): Promise<void> {
    // Not a cached answer: this thread looks at the file right after it.
    if (!hasAnswered(await this.#disks.check(this.#path))) return;
    const stamp = stampOf(this.#path);
    if (stamp === this.#stamp) return;
    this.#stamp = stamp;
    this.#takeUp(stamp !== MISSING);
  }
}

const MISSING = 'missing';

/** What tells two versions of a file apart (inode, size, times), or the error of a file that cannot be looked at. */
function stampOf(path: string): string {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    return stat === undefined ? MISSING : `${stat.ino} ${stat.size} ${stat.mtimeMs} ${stat.ctimeMs}`;
  } catch (error) {
    return messageOf(error);
  }
}
