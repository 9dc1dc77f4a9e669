import { homedir } from 'node:os';
import { failureWords } from '../platform/failure-words.ts';
import type { ProcessRunner } from '../platform/process.ts';
import { lookAtSystemSocket } from '../platform/system-socket.ts';
import { findSocket, socketPlaces } from './find-socket.ts';
import { askStatus, MOST_STATUS_BYTES, STATUS_MS } from './local-api.ts';
import type { TailnetProgram } from './tailnet.ts';

/** The app of macOS has no socket that other programs may use, but this command. */
const MAC_COMMAND = '/Applications/Tailscale.app/Contents/MacOS/Tailscale';

/** The tailscaled of this machine; `configured` is the path of its socket, or null. */
export function tailnetProgram(options: {
  configured: string | null;
  env: NodeJS.ProcessEnv;
  runner: Pick<ProcessRunner, 'run'>;
}): TailnetProgram {
  const { configured, env, runner } = options;
  const { platform } = process;
  const places = socketPlaces({ configured, platform, home: homedir(), runtime_dir: env.XDG_RUNTIME_DIR });
  return {
    findSocket: () => findSocket(places, lookAtSystemSocket),
    askStatus,
    async askByCommand() {
      if (platform !== 'darwin' || configured !== null) return null;
      return statusByCommand(runner, MAC_COMMAND);
    },
  };
}

/**
 * The status document as the command line prints it; null where the program is not there. Rejects with an `Error` whose
 * message is a sentence.
 */
export async function statusByCommand(runner: Pick<ProcessRunner, 'run'>, file: string): Promise<unknown> {
  const ran = await runner.run({
    ...{ file, args: ['status', '--json'] },
    ...{ timeout_ms: STATUS_MS, max_output_bytes: MOST_STATUS_BYTES },
  });
  if (ran.kind === 'not_started' && ran.code === 'ENOENT') return null;
  if (ran.kind !== 'exited') throw new Error(`${file} gave no status: ${failureWords(ran)}`);
  try {
    return JSON.parse(ran.stdout);
  } catch (cause) {
    throw new Error(`${file} printed no status (exit code ${ran.code}): ${failureWords(ran)}`, { cause });
  }
}
