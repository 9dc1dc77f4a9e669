import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { createInterface } from 'node:readline';

const SERVER = new URL('held-disk-server.mjs', import.meta.url).pathname;

/** A mounted file system that can stop to answer, and answer again. */
export type HeldDisk = {
  /** From now on every request waits in the kernel, where no signal ends the wait. */
  hold(): Promise<void>;
  /** Answers what waits and what comes. */
  go(): Promise<void>;
  /** Ends what waits with an error, and takes the mount away. */
  remove(): Promise<void>;
};

/** Why no such file system can be mounted here, or null when it can. */
export const noHeldDisk: string | null =
  process.getuid?.() !== 0 || !existsSync('/dev/fuse') ? 'only root can mount with /dev/fuse here' : null;

/** Mounts one at `folder`, which is made; with the files of `served`. */
export async function mountHeldDisk(folder: string, served?: string): Promise<HeldDisk> {
  mkdirSync(folder, { recursive: true });
  const server = spawn(process.execPath, [SERVER, folder, ...(served === undefined ? [] : [served])], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: server.stdout });
  const said = (line: string) =>
    new Promise<void>((resolve, reject) => {
      const hear = (one: string) => {
        if (one !== line) return;
        lines.off('line', hear);
        resolve();
      };
      lines.on('line', hear);
      server.once('exit', (code) => reject(new Error(`the file system ended with ${code}`)));
    });
  const tell = (command: string) => {
    const done = said(command);
    server.stdin.write(`${command}\n`);
    return done;
  };
  await said('mounted');
  return {
    hold: () => tell('hold'),
    go: () => tell('go'),
    async remove() {
      await ended(server);
      spawnSync('umount', ['-l', folder]);
    },
  };
}

async function ended(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const gone = new Promise((resolve) => server.once('close', resolve));
  server.kill('SIGKILL');
  await gone;
}
