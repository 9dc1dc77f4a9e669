import { useEffect, useState } from 'react';

const SETTLED_MS = 350;

/** A value once it has stayed the same for a moment; before that the one before. */
export function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), SETTLED_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
