import { CodedError } from '../../../base/errors.ts';
import { didYouMean } from '../../../base/nearest-words.ts';
import { shellWord } from '../../../base/shell-word.ts';
import type { State } from '../../../contract/http/state.ts';
import { leafOf } from '../../../fibers/fiber-id.ts';
import { fibersCalled, fibersMeant, severalCalled } from '../../../fibers/fiber-reference.ts';

/** A worker that runs, as far as it is chosen by. */
export type Running = Pick<State['running'][number], 'fiber_id' | 'uid' | 'mux_session' | 'store'>;

/** A complete session name (`<leaf>-<uid>-svc`, `capture-<uuid>`, `resume-<uuid>`) needs no daemon. */
export function isSessionName(name: string): boolean {
  return /-[0-9A-HJKMNP-TV-Z]{26}-svc$|^(capture|resume)-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(
    name,
  );
}

/** What a person typed, and whether a fiber is called exactly so: then it is not the beginning of another id. */
export type Reference = { name: string; is_called: boolean };

/** The other hosts that run a worker of this name, with what they run. */
export function hostsThatRun(
  reference: Reference,
  own: string,
  origins: Readonly<Record<string, { read: { running: Running[] } | null }>>,
): { host: string; running: Running[] }[] {
  return Object.entries(origins).flatMap(([host, { read }]) =>
    host !== own && read !== null && workersOf(read.running, reference).length > 0
      ? [{ host, running: read.running }]
      : [],
  );
}

function workersOf(running: readonly Running[], { name, is_called }: Reference): Running[] {
  const inSession = running.filter((run) => run.mux_session === name);
  if (inSession.length > 0) return inSession;
  const find = is_called ? fibersCalled : fibersMeant;
  return find(
    name,
    running.map((run) => ({ ...run, id: run.fiber_id })),
  );
}

/** The session of the running worker that is referred to; throws if there is none, several, or no terminal. */
export function chooseSession(running: readonly Running[], reference: Reference): string {
  const { name } = reference;
  const found = workersOf(running, reference);
  const [run] = found;
  if (run === undefined) throw new CodedError('no_worker', noWorkerOf(reference, running));
  if (found.length > 1)
    throw new CodedError(
      'ambiguous_fiber',
      severalCalled(
        name,
        found.map((one) => (isElsewhere(one, found) ? `${one.fiber_id} in ${one.store}` : one.fiber_id)),
      ),
    );
  if (run.mux_session === null)
    throw new CodedError(
      'surface_unsupported',
      `${run.fiber_id} runs in the app and has no terminal to attach to`,
    );
  return run.mux_session;
}

/** That no worker runs of this name, with what to do. */
export function noWorkerOf({ name, is_called }: Reference, running: readonly Running[]): string {
  if (is_called)
    return `no worker runs for ${name}; svc ps lists those that run, and svc why ${shellWord(name)} says how to start one`;
  const question = didYouMean(
    name,
    running.map(({ fiber_id }) => (name.includes('/') ? fiber_id : leafOf(fiber_id))),
  );
  return question === ''
    ? `no worker runs for ${name}, and no fiber here is called so; svc ps lists the workers, and svc fiber ls the fibers`
    : `no worker runs for ${name}.${question}`;
}

/** Whether a fiber of the same id is in another store. */
function isElsewhere({ fiber_id, store }: Running, among: readonly Running[]): boolean {
  return among.some((other) => other.fiber_id === fiber_id && other.store !== store);
}
