import { useEffect, useRef, useState } from 'react';
import type { AudioState } from '../model/audio-words.ts';
import { type Microphone, openMicrophone } from './microphone.ts';

/** For so long after a frame was dropped because of it, the line counts as slow. */
const SLOW_MS = 3_000;

export type UsedMicrophone = {
  state: AudioState;
  /** The launch id of the meeting that it was connected to last; null before that. */
  launch: string | null;
  /** The system gives it no sound for now. */
  muted: boolean;
  peak_db: number | null;
  /** When the line was behind last, in milliseconds since the Unix epoch. */
  behind_at: number | null;
  /** Opens it; has to be called by a tap, before anything else is waited for. False where the browser gives none. */
  open(): Promise<boolean>;
  /** Sends to the meeting with this launch id. */
  connect(launch: string): void;
  close(): void;
};

export function isSlow({ behind_at }: UsedMicrophone, now: number): boolean {
  return behind_at !== null && now - behind_at < SLOW_MS;
}

/** The microphone of this page, which is let go of with it. */
export function useMicrophone(): UsedMicrophone {
  const microphone = useRef<Microphone | null>(null);
  const [state, setState] = useState<AudioState>({ kind: 'off' });
  const [launch, setLaunch] = useState<string | null>(null);
  const [muted, setMuted] = useState(false);
  const [peak_db, setPeak] = useState<number | null>(null);
  const [behind_at, setBehind] = useState<number | null>(null);
  const behind = useRef(0);

  const release = () => {
    microphone.current?.close();
    microphone.current = null;
    behind.current = 0;
    setPeak(null);
    setBehind(null);
  };
  useEffect(
    () => () => {
      microphone.current?.close();
      microphone.current = null;
    },
    [],
  );
  return {
    state,
    launch,
    muted,
    peak_db,
    behind_at,
    async open() {
      release();
      setState({ kind: 'opening' });
      setMuted(false);
      try {
        microphone.current = await openMicrophone({
          state(next) {
            // Nothing is sent any more, so the browser is not to show that it listens.
            if (next.kind === 'over') release();
            setState(next);
          },
          level(level) {
            setPeak(level.peak_db);
            if (level.behind > behind.current) setBehind(Date.now());
            behind.current = level.behind;
          },
          muted: setMuted,
          taken() {
            release();
            setState({ kind: 'taken_away' });
          },
        });
        setState({ kind: 'open' });
        return true;
      } catch (error) {
        const { name, message } = error instanceof Error ? error : { name: '', message: String(error) };
        setState({ kind: 'no_microphone', name, message });
        return false;
      }
    },
    connect(to) {
      setLaunch(to);
      microphone.current?.connect(to);
    },
    close() {
      release();
      setState({ kind: 'off' });
    },
  };
}
