import { createContext, useContext } from 'react';

/** The host of the fiber that a sheet shows; null for the one that answers. */
export const SheetOrigin = createContext<string | null>(null);

export function useOrigin(): string | null {
  return useContext(SheetOrigin);
}

/** The key of the draft of a fiber: two hosts may have one of the same id. */
export function draftKey(kind: 'body' | 'reply', reference: string, origin: string | null): string {
  const key = `draft ${kind} ${reference}`;
  return origin === null ? key : `${key} ${origin}`;
}

/** What a write to the fiber of a host says of the host. */
export function toHost(origin: string | null): { origin?: string } {
  return origin === null ? {} : { origin };
}
