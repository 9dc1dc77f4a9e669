import { useSyncExternalStore } from 'react';

const narrow = matchMedia('(max-width: 820px)');
const dark = matchMedia('(prefers-color-scheme: dark)');

function useMedia(query: MediaQueryList): boolean {
  return useSyncExternalStore(
    (run) => {
      query.addEventListener('change', run);
      return () => query.removeEventListener('change', run);
    },
    () => query.matches,
  );
}

/** Whether the page is as narrow as a phone; as in `styles/tokens.css`. */
export function usePhone(): boolean {
  return useMedia(narrow);
}

/** Whether the page is shown in dark colours; as in `styles/tokens.css`. */
export function useDarkScheme(): boolean {
  return useMedia(dark);
}
