import { sleep } from '../../../base/clock.ts';
import type { ClaimPorts } from '../../claims/claim-checks.ts';
import { Claims } from '../../claims/claims.ts';
import { UnfinishedClaims } from '../../claims/unfinished-claims.ts';
import type { Memory } from '../../holds/memory.ts';
import { moveRun, type Run } from '../../run/run.ts';
import { mayStillRun } from '../../run/runs.ts';
import type { CaptureRecord } from '../../run-directory/capture-directory.ts';
import { shownArgv } from '../../run-directory/run-script.ts';
import type { World } from '../../world/world.ts';
import type { OpenSurface, SurfaceStarts } from '../surface.ts';
import { Captures } from './captures.ts';
import { ClaimedSessions } from './claimed-sessions.ts';
import { endWorker } from './end-worker.ts';
import { Reconciler } from './reconcile.ts';
import { composeStart, startRun } from './terminal-start.ts';

/** Workers in sessions of tmux. */
export const TERMINAL: SurfaceStarts = {
  async refuse(world, _fiber, agent) {
    await world.harness.probe(agent);
    return null;
  },
  fields({ conversation }, user_message) {
    if (conversation.kind !== 'resume') return {};
    const { session_uuid, size } = conversation;
    return { resume: { session_uuid, size, user_message } };
  },
  start: startRun,
  show(world, document, planned) {
    const { run, plan } = planned;
    const command = {
      argv: shownArgv(plan.argv),
      cwd: run.project_dir,
      env: Object.keys(composeStart(world, document, planned).env).sort(),
      mux_session: run.mux_session,
    };
    return { what: '', command, names: {}, minted: {} };
  },
  reserved: null,
  unserved: async () => null,
  explain: () => null,
};

export type TerminalPorts = ClaimPorts & {
  /** Holds the runs against what tmux tells now. */
  reconcile(): Promise<void>;
};

/** The terminal surface of this daemon. */
export function openTerminal(world: World, memory: Memory, ports: TerminalPorts) {
  const captures = new Captures(world, memory);
  return {
    captures,
    claims: new Claims(world, memory, new ClaimedSessions(world, captures), ports),
    reconciler: new Reconciler(world, memory, new UnfinishedClaims(world, memory, captures)),
    cut: (run, reason) => cut(world, memory, ports, run, reason),
    endCaptures: (only) => endCaptures(world, captures, ports, only),
    watch: async () => {},
  } satisfies OpenSurface & Record<string, unknown>;
}

/** How often a worker that is being ended is looked at, in milliseconds. */
const END_LOOK_MS = 100;

/**
 * Ends a run on request, looking again for as long as its processes may take; what to tell where it was not seen to end,
 * else null.
 */
async function cut(
  world: World,
  memory: Pick<Memory, 'runs'>,
  ports: Pick<TerminalPorts, 'reconcile'>,
  run: Run,
  reason: 'kill' | 'forced_start',
): Promise<string | null> {
  const at = world.clock.now();
  moveRun(run, { kind: 'ending', end: { reason, at } });
  world.runDirectories.writeEnd(run.launch_id, reason, at);
  const unended = await endAndLook(world, memory, ports, run);
  if (unended === null) return null;
  moveRun(run, { kind: 'not_ended' });
  if (reason === 'forced_start') world.runDirectories.withdrawForcedStart(run.launch_id);
  return unended;
}

async function endAndLook(
  world: World,
  memory: Pick<Memory, 'runs'>,
  ports: Pick<TerminalPorts, 'reconcile'>,
  run: Run,
): Promise<string | null> {
  const { clock, settings } = world;
  const since = clock.monotonic();
  for (;;) {
    const { silence } = await endWorker(world, run);
    // Each further question would take as long as this one did, and the request has a deadline.
    if (silence !== null)
      return `whether the worker ${run.mux_session} has ended is not known, since tmux does not answer (${silence}); do the same again once it does, see \`svc doctor\``;
    await ports.reconcile();
    if (memory.runs.get(run.key)?.launch_id !== run.launch_id) return null;
    if (clock.monotonic() - since >= settings.kill_grace_ms) return mayStillRun(run);
    await sleep(clock, END_LOOK_MS);
  }
}

/**
 * Ends every capture that no fiber was claimed for, or the `only` one, all at once; the sessions of those that were seen to end. None needs
 * a hold, since nothing starts a capture again.
 */
async function endCaptures(
  world: World,
  captures: Captures,
  ports: Pick<TerminalPorts, 'reconcile'>,
  only: string | undefined,
): Promise<string[]> {
  const { clock, settings, runDirectories } = world;
  const since = clock.monotonic();
  const asked = captures.open().filter(({ mux_session }) => only === undefined || mux_session === only);
  for (const { launch_id } of asked) runDirectories.writeEnd(launch_id, 'kill', clock.now());
  for (let left = asked; left.length > 0; left = captures.open().filter(isIn(asked))) {
    const looks = await Promise.all(left.map((record) => endWorker(world, record)));
    await ports.reconcile();
    const over = clock.monotonic() - since >= settings.kill_grace_ms;
    if (over || looks.some(({ silence }) => silence !== null)) break;
    if (captures.open().some(isIn(asked))) await sleep(clock, END_LOOK_MS);
  }
  return asked.filter(({ launch_id }) => captures.hasEnded(launch_id)).map((record) => record.mux_session);
}

function isIn(records: readonly CaptureRecord[]): (record: CaptureRecord) => boolean {
  return ({ launch_id }) => records.some((one) => one.launch_id === launch_id);
}
