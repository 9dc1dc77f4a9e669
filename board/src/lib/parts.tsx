import { type ComponentType, type ReactNode, useEffect, useLayoutEffect, useState } from 'react';
import { lookForUpdate } from './look-for-update.ts';
import { keepKeys } from './presses.ts';
import { toast } from './toasts.ts';

/** A part of the board that is loaded when it is first shown, or before that. */
export type Part<P> = {
  loaded: ComponentType<P> | null;
  load(): Promise<ComponentType<P>>;
  /** Puts away what asked for it, where it cannot be loaded. */
  failed(): void;
};

export function part<P>(
  load: () => Promise<{ default: ComponentType<P> }>,
  failed: () => void = () => undefined,
): Part<P> {
  const one: Part<P> = {
    loaded: null,
    failed,
    async load() {
      one.loaded ??= (await load()).default;
      return one.loaded;
    },
  };
  return one;
}

/** Why a part cannot be loaded, told for a person: the daemon is gone, or serves those of another build. */
export async function whyNotLoaded(): Promise<string> {
  return (await lookForUpdate())
    ? 'The board was updated. Reload the page to open this.'
    : 'This cannot be opened while the daemon does not answer.';
}

type LateProps<P> = {
  of: Part<P>;
  with: P;
  /** Stands in its place until then, and where it cannot be loaded, of which nothing is said then. */
  meanwhile?: ReactNode;
  /** It takes the focus once it is there: the keys pressed until then are kept for it. */
  takes_keys?: boolean;
};

/** Shows a part once it is loaded. One that cannot be leaves the rest of the board as it is. */
export function Late<P extends object>({
  of,
  with: props,
  meanwhile,
  takes_keys = false,
}: LateProps<P>): ReactNode {
  const said = meanwhile === undefined;
  const [Shown, setShown] = useState(() => of.loaded);
  useEffect(() => {
    let gone = false;
    of.load().then(
      (component) => {
        if (!gone) setShown(() => component);
      },
      () => {
        if (gone || !said) return;
        void whyNotLoaded().then((why) => toast(why, { tone: 'fault' }));
        of.failed();
      },
    );
    return () => {
      gone = true;
    };
  }, [of, said]);
  if (Shown !== null) return <Shown {...props} />;
  return takes_keys ? <KeepKeys callOff={of.failed} /> : meanwhile;
}

/** Stands for what takes the focus once it is there: the keys pressed until then are kept for it. */
export function KeepKeys({ callOff = NOTHING }: { callOff?: () => void }): ReactNode {
  // With what is seen: the next key may be pressed at once.
  useLayoutEffect(() => keepKeys(callOff), [callOff]);
  return null;
}

const NOTHING = () => undefined;

/** Loads parts once the page has nothing else to do. */
export function loadWhenIdle(parts: readonly { load(): Promise<unknown> }[]): void {
  const load = () => {
    for (const one of parts) one.load().catch(() => undefined);
  };
  if ('requestIdleCallback' in window) requestIdleCallback(load);
  else setTimeout(load, IDLE_MS);
}

/** Where the browser does not say when it is idle. */
const IDLE_MS = 1_500;
