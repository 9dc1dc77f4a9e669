import { useEffect } from 'react';

/** Keeps the screen on while it is wanted and the page is shown: a phone that sleeps lets go of its microphone. */
export function useWakeLock(wanted: boolean): void {
  useEffect(() => {
    const { wakeLock } = navigator as { wakeLock?: WakeLock };
    if (!wanted || wakeLock === undefined) return;
    let held: WakeLockSentinel | null = null;
    let gone = false;
    // The browser lets go of it whenever the page is hidden.
    const hold = async () => {
      if (document.hidden || gone) return;
      try {
        held = await wakeLock.request('screen');
        if (gone) await held.release();
      } catch {
        // A phone that saves its battery refuses; the page says how to keep the screen on.
      }
    };
    void hold();
    document.addEventListener('visibilitychange', hold);
    return () => {
      gone = true;
      document.removeEventListener('visibilitychange', hold);
      void held?.release();
    };
  }, [wanted]);
}
