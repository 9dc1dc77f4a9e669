import { useRef } from 'react';
import { ownRead } from '../model/composite.ts';
import type { State } from '../model/wire.ts';
import { STATE_PATH } from './paths.ts';
import { type Read, useComposite } from './reads.ts';

/** The state of the host that answers; what was last read of it stays while it cannot tell. */
export function useHostState(options: { every_ms?: number } = {}): Read<State> {
  const { value, refusal, again } = useComposite<State>(STATE_PATH, options);
  const last = useRef<State | undefined>(undefined);
  last.current = (value === undefined ? null : ownRead(value).read) ?? last.current;
  return { value: last.current, refusal, again };
}
