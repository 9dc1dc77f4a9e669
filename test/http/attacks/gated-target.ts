import { execFile, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { systemPeerCredentials } from '../../../src/platform/peer-credentials.ts';
import type { PeerVerdict } from '../../../src/platform/peer-verdict.ts';
import { getRow, json, postRow, type Served, serve } from '../served.ts';

const ATTACKER = fileURLToPath(new URL('attacker.py', import.meta.url));
export const NOBODY = 65_534;

/** Why these tests cannot run here, or null: they need a second user and control over how a socket closes. */
export const CANNOT_ATTACK: string | null =
  process.platform !== 'linux'
    ? 'the gate reads /proc, which only Linux has'
    : process.geteuid?.() !== 0
      ? 'only root can start a process of another user'
      : spawnSync('python3', ['-c', '']).status !== 0
        ? 'the attacker is a python3 script, and there is no python3'
        : null;

export type GatedTarget = Served & {
  /** Requests that reached a handler. */
  handled(): number;
  /** What the gate decided so far, by kind. */
  verdicts: Record<PeerVerdict['kind'], number>;
};

/** A server with the gate of this system and two rows with an effect: `GET /act` and `POST /act`. */
export async function serveGated(): Promise<GatedTarget> {
  const system = systemPeerCredentials();
  if (!('judge' in system)) throw new Error('this system does not tell peers apart');
  const verdicts = { own_uid: 0, other_uid: 0, unresolved: 0, no_connection: 0 };
  let handled = 0;
  const act = () => {
    handled += 1;
    return json({ done: true });
  };
  const served = await serve([getRow('/act', act), postRow('/act', act)], {
    peers: {
      ...system,
      judge(connections) {
        const judged = system.judge(connections);
        for (const { kind } of judged) verdicts[kind] += 1;
        return judged;
      },
    },
  });
  return { ...served, handled: () => handled, verdicts };
}

type Act = 'ask' | 'leave' | 'race' | 'burst';

function argv(uid: number, act: Act, port: number, options: Record<string, unknown>): string[] {
  return [ATTACKER, String(uid), act, String(port), JSON.stringify(options)];
}

/** Lets a user act while the server serves. */
export async function actAs(
  uid: number,
  act: Act,
  port: number,
  options: Record<string, unknown> = {},
): Promise<unknown> {
  const { stdout } = await promisify(execFile)('python3', argv(uid, act, port, options), { timeout: 30_000 });
  return JSON.parse(stdout);
}

/** Lets a user act while the server, which lives in this thread, stands still: all is over before it accepts. */
export function actBeforeAccept(
  uid: number,
  act: Act,
  port: number,
  options: Record<string, unknown> = {},
): unknown {
  const { stdout } = spawnSync('python3', argv(uid, act, port, options), {
    encoding: 'utf8',
    timeout: 30_000,
  });
  return JSON.parse(stdout);
}
