import { isCoded } from '../../../base/errors.ts';
import { shellWord } from '../../../base/shell-word.ts';
import { svcOf } from '../../../config/own-command.ts';
import { readSettings, type Settings } from '../../../config/settings.ts';
import type { FiberDocument } from '../../../contract/fiber.ts';
import { type State, stateSchema } from '../../../contract/http/state.ts';
import { formatDue, formatDuration } from '../../command-line/output.ts';
import { holdWords, letGo } from '../../command-line/screen-words.ts';
import type { CliContext } from '../../command-line/verb.ts';
import { connectDaemon } from '../../daemon-client/client.ts';
import { findDaemon } from '../../daemon-client/daemon-file.ts';

/** `booting`: a daemon runs and tells no state yet; `silent`: one runs and gives no usable answer; null: none runs. */
type Known = State | 'booting' | { silent: string } | null;
type Written = Pick<FiberDocument, 'id' | 'store' | 'status' | 'svc'>;

/**
 * What will happen to a fiber that was just written, from the daemon's state; it also handles a daemon that does not
 * answer.
 */
export async function whatNext(context: CliContext, fiber: Written): Promise<string> {
  if (fiber.svc === undefined) return '';
  const settings = readSettings(context.env);
  return describeNext(fiber, await readState(settings), svcOf(settings));
}

/** One line for a person: who starts a worker for this fiber, when, and what to type if nothing will. */
export function describeNext(fiber: Written, state: Known, svc: string): string {
  const next = describeStart(fiber, state, svc);
  return fiber.svc?.kind === 'standing' && fiber.status === 'active'
    ? `${next}${describeReview(fiber, svc)}`
    : next;
}

function describeStart(fiber: Written, state: Known, svc: string): string {
  if (fiber.svc === undefined) return '';
  const isFiber = (row: { fiber_id: string; store: string }) =>
    row.fiber_id === fiber.id && row.store === fiber.store;
  // The write has already reported what happens to its worker.
  if (isState(state) && state.running.some(isFiber)) return '';
  if (fiber.svc.kind === 'pinned' && fiber.status !== 'active')
    return `It is started by hand: ${svc} dispatch ${shellWord(fiber.id)}\n`;
  if (fiber.status !== 'active') return '';
  if (state === 'booting')
    return `The daemon is still starting; see in a moment what becomes of it: ${svc} status ${shellWord(fiber.id)}\n`;
  if (state === null) {
    const start = svc === 'svc' ? 'svc daemon start' : svc;
    return `No daemon runs here; start it with: ${start}\n`;
  }
  if ('silent' in state) return `It is not known when it starts: ${state.silent}\n`;
  if (fiber.svc.host !== state.host)
    return `The daemon of ${fiber.svc.host} starts it; the one here is ${state.host}.\n`;
  const polled = state.poll_health.stores.find(({ store }) => store === fiber.store);
  if (polled === undefined)
    return `The daemon does not poll ${fiber.store}; add it with: ${svc} fiber init ${fiber.store} --poll\n`;
  if (polled.held_back !== null)
    return `The daemon here does not start it: ${polled.held_back.message}; see: ${svc} doctor\n`;
  const held = state.pending_launch.find(isFiber);
  if (held !== undefined && held.reason !== 'boot_quarantine')
    return `It is held back: ${holdWords(held.reason, held.note)}; let it start with: ${letGo(held.reason, fiber.id, svc)}\n`;
  if (state.brake.on)
    return `The emergency brake is on, so nothing starts; let it go with: ${svc} resume-all\n`;
  if (held !== undefined || (state.boot_quarantine.active && fiber.svc.kind === 'standing'))
    return `It is held back, as everything is since the daemon started; let it begin with: ${svc} daemon release\n`;
  if (fiber.svc.kind === 'standing') {
    const next = state.standing_roles.find(isFiber)?.next_due_at ?? null;
    const when = next === null ? 'when its schedule says so' : formatDue(next, state.generated_at);
    return `The daemon starts it ${when}: ${svc} status\n`;
  }
  return `The daemon starts it within ${formatDuration(Math.max(1000, state.poll_health.interval_ms))}; see: ${svc} status ${shellWord(fiber.id)}\n`;
}

/** What becomes of a standing role after each of its runs. */
function describeReview({ id, svc: block }: Written, svc: string): string {
  return block?.auto_accept === true
    ? `A run that leaves an outcome and no fault is accepted by itself; after any other it awaits review: ${svc} accept ${shellWord(id)}\n`
    : `After each run it awaits review, and runs again only after: ${svc} accept ${shellWord(id)}\n`;
}

async function readState(settings: Settings): Promise<Known> {
  try {
    return await (await connectDaemon(settings)).get('/state', stateSchema);
  } catch (error) {
    if (isCoded(error, 'booting')) return 'booting';
    return isCoded(error) && (await findDaemon(settings)).kind === 'running'
      ? { silent: error.message }
      : null;
  }
}

function isState(known: Known): known is State {
  return known !== null && typeof known === 'object' && !('silent' in known);
}
