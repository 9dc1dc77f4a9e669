import { useLayoutEffect, useState } from 'react';

/** A value as of the task before: what is made of it is a task of its own, and the page takes keys in between. */
export function useNextTask<T>(value: T): T {
  const [shown, setShown] = useState(value);
  useLayoutEffect(() => {
    const timer = setTimeout(() => setShown(value));
    return () => clearTimeout(timer);
  }, [value]);
  return shown;
}
