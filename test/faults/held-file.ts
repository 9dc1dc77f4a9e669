import { type ChildProcess, spawn } from 'node:child_process';

/** The program of the holder: a write lease (`F_SETLEASE`, 1024), given back when its input ends. */
const HOLDER = `
use Fcntl;
$SIG{IO} = 'IGNORE';
open(my $file, '+<', $ARGV[0]) or die "open: $!";
fcntl($file, 1024, 1) or die "lease: $!";
$| = 1; print "held\\n"; <STDIN>;
`;

/**
 * Makes every opening of a regular file wait in the kernel, as on a disk that does not answer, until `release`
 * or for 45 s (\`/proc/sys/fs/lease-break-time\`). Null where the system gives no such lease.
 */
export async function holdFile(path: string): Promise<{ release(): Promise<void> } | null> {
  const holder = spawn('perl', ['-e', HOLDER, path], { stdio: ['pipe', 'pipe', 'ignore'] });
  const held = await new Promise<boolean>((resolve) => {
    holder.on('error', () => resolve(false));
    holder.on('exit', () => resolve(false));
    holder.stdout.once('data', () => resolve(true));
  });
  return held ? { release: () => release(holder) } : null;
}

async function release(holder: ChildProcess): Promise<void> {
  if (holder.exitCode !== null || holder.signalCode !== null) return;
  const ended = new Promise((resolve) => holder.once('close', resolve));
  holder.stdin?.end();
  await ended;
}
