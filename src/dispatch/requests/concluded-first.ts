import type { FiberDocument } from '../../contract/fiber.ts';
import type { DocumentChange } from '../world/documents.ts';

/** The document as the end of its worker leaves it. */
export function asConcluded(document: FiberDocument, { set, unset }: DocumentChange): FiberDocument {
  const { tempered: _verdict, ...rest } = document;
  const kept = unset.includes('tempered') ? rest : document;
  const status = (set.status ?? document.status) as FiberDocument['status'];
  return typeof set['closed-at'] === 'string'
    ? { ...kept, status, closed_at: set['closed-at'] }
    : { ...kept, status };
}

/** Two changes of a document, one after the other, as one. */
export function afterwards(first: DocumentChange, second: DocumentChange): DocumentChange {
  const kept = Object.entries(first.set).filter(([path]) => !second.unset.includes(path));
  const unset = first.unset.filter((path) => !Object.hasOwn(second.set, path));
  return {
    set: { ...Object.fromEntries(kept), ...second.set },
    unset: [...new Set([...unset, ...second.unset])],
  };
}
