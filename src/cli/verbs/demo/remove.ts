import { existsSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Clock } from '../../../base/clock.ts';
import { CodedError } from '../../../base/errors.ts';
import { openStore } from '../../../fibers/store.ts';
import type { ProcessRunner } from '../../../platform/process.ts';
import { createProcessFacts } from '../../../platform/process-facts.ts';
import { endProcessTree } from '../../../platform/process-tree.ts';
import { demoSocket } from './environment.ts';
import { DEMO_FIBER_IDS, demoFolders } from './store.ts';

const GRACE_MS = 2_000;

/** What was removed; `sessions` counts the workers and the anchor that were ended. */
export type DemoRemoved = { root: string; existed: boolean; sessions: number };

/** Canonical ids of the fibers that a person added to the demo's store. */
export function ownFibers(root: string, clock: Clock): string[] {
  const { store } = demoFolders(root);
  if (!existsSync(store)) return [];
  return openStore(store, { clock })
    .list()
    .documents.map((document) => document.id)
    .filter((id) => !DEMO_FIBER_IDS.includes(id));
}

/** Ends every session of the demo's private tmux server with its processes, and deletes the demo's folders. */
export async function removeDemo(
  root: string,
  options: { runner: ProcessRunner; clock: Clock },
): Promise<DemoRemoved> {
  const socket = demoSocket(root);
  const existed = existsSync(root);
  const sessions = existsSync(socket) ? await endSessions(socket, options) : 0;
  rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  if (!socket.startsWith(root)) rmSync(dirname(socket), { recursive: true, force: true });
  return { root, existed, sessions };
}

/** The server belongs to the demo, so all its sessions are ended. Returns their number. */
async function endSessions(
  socket: string,
  { runner, clock }: { runner: ProcessRunner; clock: Clock },
): Promise<number> {
  const tmux = (...args: string[]) =>
    runner.run({
      file: 'tmux',
      args: ['-S', socket, ...args],
      timeout_ms: 10_000,
      max_output_bytes: 1024 * 1024,
    });
  const listed = await tmux('list-panes', '-a', '-F', '#{session_id} #{pane_pid}');
  if (listed.kind !== 'exited' || listed.code !== 0) return 0;
  const panes = listed.stdout
    .split('\n')
    .map((line) => line.split(' '))
    .filter((words): words is [string, string] => words.length === 2);
  const facts = createProcessFacts({ platform: process.platform, runner });
  for (const [session, pid] of panes) {
    const found = await facts.lookUp(Number(pid));
    if (found.kind === 'found') {
      const ended = await endProcessTree(found.row, { grace_ms: GRACE_MS, facts, clock });
      if (ended.kind !== 'ended')
        throw new CodedError('internal', `process ${pid} of the demo does not end; end it, then try again`);
    }
    await tmux('kill-session', '-t', session);
  }
  return new Set(panes.map(([session]) => session)).size;
}
