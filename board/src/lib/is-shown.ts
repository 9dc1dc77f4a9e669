import { useEffect, useRef } from 'react';

/** Asks whether the component is still shown, for what goes on after an answer that may come late. */
export function useIsShown(): () => boolean {
  const shown = useRef(false);
  useEffect(() => {
    shown.current = true;
    return () => {
      shown.current = false;
    };
  }, []);
  return () => shown.current;
}
