import { useEffect, useState } from 'react';
import { retryAfter } from '../model/contact.ts';
import { applyScreen, NO_SCREEN, type Screen } from '../model/screen.ts';
import type { TerminalMessage } from '../model/wire.ts';

/** How the page stands with the terminal of a worker. */
export type Watched = {
  screen: Screen;
  state:
    | { kind: 'connecting' }
    | { kind: 'live' }
    /** The connection is lost; it is tried again. */
    | { kind: 'lost'; since: number; reason: string }
    /** The daemon has said that there is no more to come, and why. */
    | { kind: 'over'; reason: string };
};

const FIRST: Watched = { screen: NO_SCREEN, state: { kind: 'connecting' } };

/** Follows the terminal of the worker with this session while the caller is shown; `origin` is null for the host that answers. */
export function useScreen(session: string, origin: string | null): Watched {
  const [watched, become] = useState(FIRST);
  useEffect(() => {
    become(FIRST);
    return watchScreen(session, origin, become);
  }, [session, origin]);
  return watched;
}

function watchScreen(session: string, origin: string | null, become: (next: Watched) => void): () => void {
  let watched: Watched = FIRST;
  let failures = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let socket: WebSocket;
  const tell = (next: Partial<Watched>) => {
    watched = { ...watched, ...next };
    become(watched);
  };
  const connect = () => {
    const scheme = location.protocol === 'https:' ? 'wss' : 'ws';
    const query = new URLSearchParams({ session, ...(origin !== null && { origin }) });
    socket = new WebSocket(`${scheme}://${location.host}/api/v1/terminal?${query}`);
    // The lines of another connection are numbered in another way.
    let before = NO_SCREEN;
    socket.onmessage = ({ data }) => {
      const message = JSON.parse(String(data)) as TerminalMessage;
      if (message.state !== 'screen') {
        tell({ state: { kind: 'over', reason: message.reason } });
        return;
      }
      failures = 0;
      before = applyScreen(before, message);
      tell({ screen: before, state: { kind: 'live' } });
    };
    socket.onclose = ({ reason }) => {
      const { state } = watched;
      if (state.kind === 'over') return;
      failures += 1;
      const since = state.kind === 'lost' ? state.since : Date.now();
      // Where another host does not answer, this is what the daemon says of it.
      if (state.kind !== 'lost' || state.reason !== reason) tell({ state: { kind: 'lost', since, reason } });
      timer = setTimeout(connect, retryAfter(failures));
    };
  };
  connect();
  return () => {
    clearTimeout(timer);
    socket.onclose = null;
    socket.onmessage = null;
    socket.close();
  };
}
