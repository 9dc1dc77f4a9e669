import type { RunView } from '../../contract/fiber.ts';
import type { EndRecord } from '../run-directory/run-records.ts';

/** How far a run has come. `answers`: its liveness could be told at the last look; until it can, the run counts as alive. */
type LiveState =
  /** Its start is under way in this daemon: what a listing lacks says nothing of it yet. */
  | { kind: 'starting' }
  /** Recorded, and not known to have been started: a start of an earlier daemon, or one whose outcome nobody told. */
  | { kind: 'claimed'; answers: boolean }
  /** Its session was seen and the start recorded. */
  | { kind: 'started'; answers: boolean }
  /** Its transcript was seen too, or there is none to wait for. */
  | { kind: 'running'; answers: boolean };

/** The state of a run; `ending`: this daemon is ending it on purpose, and it goes on from `before` if that fails. */
export type RunState = LiveState | { kind: 'ending'; end: EndRecord; before: LiveState };

/** What a run is seen to do, or is made to do. */
export type RunEvent =
  /** A start is gone on with. */
  | { kind: 'start_resumed' }
  /** The start has come about; `confirmed` where no transcript has to be waited for. */
  | { kind: 'started'; confirmed: boolean }
  /** No start of it is under way any more. */
  | { kind: 'start_over' }
  /** Its transcript was seen. */
  | { kind: 'confirmed' }
  /** It was looked whether it lives. */
  | { kind: 'looked'; answers: boolean }
  | { kind: 'ending'; end: EndRecord }
  /** It could not be seen to end. */
  | { kind: 'not_ended' };

/** The state after one event; reads nothing but its arguments. An event that does not concern the state leaves it. */
export function nextRunState(state: RunState, event: RunEvent): RunState {
  if (event.kind === 'ending') return { kind: 'ending', end: event.end, before: liveState(state) };
  if (event.kind === 'not_ended') return liveState(state);
  if (state.kind === 'ending') return { ...state, before: nextLiveState(state.before, event) };
  return nextLiveState(state, event);
}

function nextLiveState(
  state: LiveState,
  event: Exclude<RunEvent, { kind: 'ending' | 'not_ended' }>,
): LiveState {
  const answers = state.kind === 'starting' || state.answers;
  switch (event.kind) {
    case 'start_resumed':
      return state.kind === 'claimed' ? { kind: 'starting' } : state;
    case 'started':
      if (state.kind !== 'starting' && state.kind !== 'claimed') return state;
      return { kind: event.confirmed ? 'running' : 'started', answers };
    case 'start_over':
      return state.kind === 'starting' ? { kind: 'claimed', answers } : state;
    case 'confirmed':
      return state.kind === 'started' ? { kind: 'running', answers } : state;
    case 'looked':
      return state.kind === 'starting' ? state : { ...state, answers: event.answers };
  }
}

/** The same without regard to an end that is being made. */
export function liveState(state: RunState): LiveState {
  return state.kind === 'ending' ? state.before : state;
}

/** True while its start is under way in this daemon. */
export function isStarting(state: RunState): boolean {
  return liveState(state).kind === 'starting';
}

/** True for a run that is recorded, is not known to have been started, and is not being started now. */
export function isClaimed(state: RunState): boolean {
  return liveState(state).kind === 'claimed';
}

/** True once its start has come about. */
export function isStarted(state: RunState): boolean {
  const { kind } = liveState(state);
  return kind === 'started' || kind === 'running';
}

/** The state as a row of the feed shows it. */
export function shownState(state: RunState): RunView['state'] {
  const live = liveState(state);
  if (live.kind === 'starting') return 'claimed';
  if (!live.answers) return 'unknown';
  return live.kind === 'started' ? 'starting' : live.kind;
}

/** Who is ending the run on purpose, in this daemon. */
export function endInHand(state: RunState): EndRecord | null {
  return state.kind === 'ending' ? state.end : null;
}
