import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

/** Folders that other programs make in any home. */
const OF_OTHERS = ['.cache', '.npm'];

/** Gives the tests a home folder of their own, and fails where one has left a file of ours in it. */
export default function setup(): () => void {
  const home = mkdtempSync(join(tmpdir(), 'svc-test-home-'));
  process.env.HOME = home;
  if (homedir() !== home) throw new Error('HOME does not decide where the home folder is');
  return () => {
    const left = readdirSync(home, { recursive: true }).map(String);
    rmSync(home, { recursive: true });
    const ours = left.filter((path) => !OF_OTHERS.some((name) => path.startsWith(name)));
    if (ours.length > 0)
      throw new Error(`A test wrote below the home folder of whoever runs it: ${ours.join(', ')}`);
  };
}
