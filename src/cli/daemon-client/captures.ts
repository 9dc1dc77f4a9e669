import { CodedError } from '../../base/errors.ts';
import type { State } from '../../contract/http/state.ts';
import { severalCalled } from '../../fibers/fiber-reference.ts';

type Capture = State['captures'][number] & { mux_session: string };

/** The captures in a terminal that may run and for which no fiber was claimed yet. */
export function openCaptures({ captures }: Pick<State, 'captures'>): Capture[] {
  return captures.filter((one): one is Capture => one.state !== 'ended' && one.mux_session !== null);
}

/** What a person types for a capture: the beginning of the name of its session. */
export function captureName({ mux_session }: Pick<Capture, 'mux_session'>): string {
  return mux_session.slice(0, 'capture-'.length + 8);
}

/**
 * The session of the capture that a reference means: the beginning of its name, with or without `capture-`. Null for none;
 * throws `ambiguous_fiber` for several.
 */
export function captureCalled(state: Pick<State, 'captures'>, reference: string): string | null {
  const found = openCaptures(state).filter(({ mux_session }) =>
    [mux_session, mux_session.replace(/^capture-/, '')].some((name) => name.startsWith(reference)),
  );
  if (found.length > 1)
    throw new CodedError('ambiguous_fiber', severalCalled(reference, found.map(captureName)));
  return found[0]?.mux_session ?? null;
}
