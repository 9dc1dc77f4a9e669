import { useSyncExternalStore } from 'react';

const narrow = matchMedia('(max-width: 820px)');

/** Whether the page is as narrow as a phone; as in `styles/tokens.css`. */
export function usePhone(): boolean {
  return useSyncExternalStore(
    (run) => {
      narrow.addEventListener('change', run);
      return () => narrow.removeEventListener('change', run);
    },
    () => narrow.matches,
  );
}
