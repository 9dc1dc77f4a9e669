import type { Refused } from '../contract/http/dispatch.ts';
import { type Rehearsal, rehearsal } from '../contract/http/rehearsal.ts';
import type { CallInput } from '../contract/threads/call-table.ts';
import type { pollerCalls } from '../contract/threads/poller.ts';
import type { Rehearsed } from '../fibers/store.ts';
import { type BrakeParts, rehearseBrakeRelease, rehearsePull } from './brake-requests.ts';
import { documentEdit, newFiber, storeForNew } from './document-requests.ts';
import type { LifecycleCalls } from './lifecycle-calls.ts';
import type { StoreDocuments } from './store-documents.ts';

type Asked = CallInput<typeof pollerCalls, 'rehearse'>;
type Parts = BrakeParts & {
  documents: StoreDocuments;
  lifecycle: LifecycleCalls;
};

/** Answers a write with `dry_run`: what it would do now. Nothing is written, locked, started or noted. */
export async function rehearse(parts: Parts, asked: Asked): Promise<Rehearsal | Refused> {
  const { dispatcher, documents } = parts;
  switch (asked.write) {
    case 'dispatch':
      return dispatcher.rehearse(asked.request);
    case 'kill':
      return dispatcher.rehearseKill(asked.request.fiber_id);
    case 'create_fiber': {
      const { request } = asked;
      const parent = request.parent === undefined ? undefined : documents.find(request.parent);
      const root = storeForNew(documents.roots, request.store, parent?.store);
      return rehearseCreate(documents.rehearseCreate(root, newFiber(request, parent?.id)));
    }
    case 'edit_fiber': {
      const { request } = asked;
      const change = documentEdit(request);
      const document = documents.find(request.fiber_id);
      return rehearseWrite(documents.rehearseEdit(document, () => change, request.expected_digest));
    }
    case 'lifecycle':
      return parts.lifecycle.rehearse(asked.request);
    case 'transition':
      return parts.lifecycle.rehearseMove(asked.request);
    case 'release_quarantine':
      return rehearseRelease(dispatcher.pending().map(({ document }) => document.id));
    case 'pull_brake':
      return rehearsePull(parts, asked.request);
    case 'release_brake':
      return rehearseBrakeRelease(parts, asked.request);
  }
}

/** A write of one document that was not made; for every route and verb that changes one. */
export function rehearseWrite({ path, diff, document }: Rehearsed): Rehearsal {
  if (diff === '') return rehearsal(`write nothing: ${document.id} is already so`);
  const minted: Record<string, string> = document.updated_at === undefined ? {} : { at: document.updated_at };
  return rehearsal(`write ${document.id}`, { document: { path, diff }, minted });
}

function rehearseCreate({ path, diff, document }: Rehearsed): Rehearsal {
  return rehearsal(`create ${document.id}`, {
    document: { path, diff },
    minted: {
      ...(document.uid === null ? {} : { uid: document.uid }),
      ...(document.created_at === undefined ? {} : { at: document.created_at }),
    },
  });
}

function rehearseRelease(fibers: readonly string[]): Rehearsal {
  if (fibers.length === 0) return rehearsal('release nothing: no fiber is held');
  const what = fibers.length === 1 ? 'fiber' : 'fibers';
  return rehearsal(`release ${fibers.length} held ${what}: ${fibers.join(', ')}`);
}
