import { readBuildStamp } from '../../../src/platform/build-stamp.ts';
import type { Machine } from '../kit.ts';

/** A captured screen without what differs from one machine and run to the next; no column is moved by it. */
export function asOnEveryMachine(screen: string, { folder }: Pick<Machine, 'folder'>): string {
  const { version, git_short_sha } = readBuildStamp();
  return screen
    .replaceAll(folder, '/home/ada')
    .replaceAll(`${version} (${git_short_sha})`, '1.4.0 (abc1234)')
    .replace(/\bpid \d+/g, 'pid 4242')
    .replace(/^\d+ to know$/m, 'N to know')
    .replace(/^ {2}! (the user is root|recorder)\b.*\n( {6}.*\n)*/gm, '')
    .replace(/^\d+ checks passed/m, 'N checks passed')
    .replace(/127\.0\.0\.1:\d{5}\b/g, '127.0.0.1:4000');
}
