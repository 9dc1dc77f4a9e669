import { statSync } from 'node:fs';
import { messageOf } from '../base/errors.ts';
import { answersNow, type Disks, isLocal } from '../platform/disks.ts';

export type FollowingDisks = Pick<Disks, 'check' | 'mountOf' | 'isSilent'>;

/** An operator file that is taken up again where it moved, and never read while its disk does not answer. */
export class FollowedFile {
  readonly #path: string;
  readonly #disks: FollowingDisks;
  readonly #takeUp: (exists: boolean) => void;
  #stamp: string | undefined;

  /** `takeUp` reads the file; it is called for its first version as well, and for a file that is missing or gone. */
  constructor(path: string, options: { disks: FollowingDisks; takeUp(exists: boolean): void }) {
    this.#path = path;
    this.#disks = options.disks;
    this.#takeUp = options.takeUp;
  }

  /**
   * Takes the file up where it moved since the last look; false where its disk does not answer, which leaves everything as
   * it is.
   */
  async look(): Promise<boolean> {
    if ((await answersNow(this.#disks, this.#path)) !== 'answers') return false;
    this.#takeUpMoved();
    return true;
  }

  /** The same at once; on the disk of another machine, what the last `look` found goes on to count. */
  lookNow(): void {
    if (isLocal(this.#disks, this.#path) && !this.#disks.isSilent(this.#path)) this.#takeUpMoved();
  }

  #takeUpMoved(): void {
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
