import { CodedError } from '../../../base/errors.ts';
import { didYouMean } from '../../../base/nearest-words.ts';
import { shellWord } from '../../../base/shell-word.ts';
import type { State } from '../../../contract/http/state.ts';
import { leafOf } from '../../../fibers/fiber-id.ts';
import { fibersMeant, severalCalled } from '../../../fibers/fiber-reference.ts';

/** A worker that runs, as far as it is chosen by. */
export type Running = Pick<State['running'][number], 'fiber_id' | 'uid' | 'mux_session' | 'store'>;

/** A complete session name (`<leaf>-<uid>-svc`, `capture-<uuid>`, `resume-<uuid>`) needs no daemon. */
export function isSessionName(name: string): boolean {
  return /-[0-9A-HJKMNP-TV-Z]{26}-svc$|^(capture|resume)-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(
    name,
  );
}

/** The other hosts that run a worker of this name, with what they run. */
export function hostsThatRun(
  name: string,
  own: string,
  origins: Readonly<Record<string, { read: { running: Running[] } | null }>>,
): { host: string; running: Running[] }[] {
  return Object.entries(origins).flatMap(([host, { read }]) =>
    host !== own && read !== null && workersOf(read.running, name).length > 0
      ? [{ host, running: read.running }]
      : [],
  );
}

function workersOf(running: readonly Running[], name: string): Running[] {
  const inSession = running.filter((run) => run.mux_session === name);
  if (inSession.length > 0) return inSession;
  return fibersMeant(
    name,
    running.map((run) => ({ ...run, id: run.fiber_id })),
  );
}

/** The session of the running worker that `name` refers to; throws if there is none, several, or no terminal. */
export function chooseSession(running: readonly Running[], name: string): string {
  const found = workersOf(running, name);
  const [run] = found;
  if (run === undefined) {
    const question = didYouMean(
      name,
      running.map(({ fiber_id }) => (name.includes('/') ? fiber_id : leafOf(fiber_id))),
    );
    throw new CodedError(
      'no_worker',
      question === ''
        ? `no worker runs for ${name}; svc ps lists those that run, and svc dispatch ${shellWord(name)} starts one`
        : `no worker runs for ${name}.${question}`,
    );
  }
  if (found.length > 1)
    throw new CodedError(
      'ambiguous_fiber',
      severalCalled(
        name,
        found.map((one) => `${one.fiber_id} in ${one.store}`),
      ),
    );
  if (run.mux_session === null)
    throw new CodedError(
      'surface_unsupported',
      `${run.fiber_id} runs in the app and has no terminal to attach to`,
    );
  return run.mux_session;
}
