import type { FiberDocument, FiberRow } from '../../contract/fiber.ts';
import type {
  CreateFiber,
  EditedReply,
  EditFiber,
  FiberReply,
  NestedReply,
  NestFiber,
} from '../../contract/http/fibers.ts';
import type { Rehearsal } from '../../contract/http/rehearsal.ts';
import type { DocumentEdit } from '../../fibers/edit.ts';
import type { NewFiber } from '../../fibers/new-document.ts';
import { rehearsedNest, rehearsedWrite } from '../../fibers/rehearsed-write.ts';
import { undoOf } from '../../fibers/undo.ts';
import type { KnownAgents } from '../../lifecycle/agent-verbs.ts';
import { planFieldEdit } from '../../lifecycle/field-edit.ts';
import { requireFieldValues } from '../../lifecycle/field-values.ts';
import type { Memory } from '../holds/memory.ts';
import type { StoreDocuments } from '../stores/store-documents.ts';
import { keyOf } from '../world/documents.ts';
import type { World } from '../world/world.ts';
import { perform, type Write } from '../world/write.ts';
import { documentEdit, newFiber, storeForNew } from './document-requests.ts';

type Parts = {
  world: Pick<World, 'clock' | 'host'>;
  memory: Pick<Memory, 'runs'>;
  documents: StoreDocuments;
  agents(): KnownAgents;
  rows: { row(document: FiberDocument, body: string): FiberRow };
};
type PlannedCreate = { root: string; fiber: NewFiber };
type PlannedEdit = {
  document: FiberDocument;
  change: DocumentEdit;
  digest: string | undefined;
  /** As a document is to be changed that is found under the lock. */
  planned(current: FiberDocument): DocumentEdit;
};
type PlannedMove = { document: FiberDocument; under: FiberDocument | null };

/**
 * `POST /fiber/create`, `/fiber-edit` and `/fiber-nest`. What is written is worked out by the store, which does so once
 * more under the lock of the document.
 */
export class DocumentWrites {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  create<Q extends CreateFiber>(asked: Q) {
    const { world, agents, documents, rows } = this.#parts;
    const write: Write<CreateFiber, PlannedCreate, Rehearsal, FiberReply> = {
      plan(request) {
        const parent = request.parent === undefined ? undefined : documents.find(request.parent);
        const root = storeForNew(documents.roots, request.store, parent?.store);
        const isOurs = (request.svc?.host ?? world.host) === world.host;
        requireFieldValues(request, isOurs ? agents() : null);
        return { root, fiber: newFiber(request, parent?.id) };
      },
      show: ({ root, fiber }) => rehearsedWrite('create', documents.planCreate(root, fiber)),
      async apply({ root, fiber }) {
        const { body, ...document } = await documents.create(root, fiber);
        return { fiber: rows.row(document, body) };
      },
    };
    return perform(write, asked);
  }

  edit<Q extends EditFiber>(asked: Q) {
    const { world, memory, agents, documents, rows } = this.#parts;
    const planned =
      (document: FiberDocument, change: DocumentEdit, restores: boolean) => (current: FiberDocument) => {
        if (restores) return change;
        const running = memory.runs.get(keyOf(document)) !== undefined;
        return planFieldEdit(current, change, { running }, world.clock.now());
      };
    const write: Write<EditFiber, PlannedEdit, Rehearsal, EditedReply> = {
      plan: (request) =>
        documents.whenRead(() => {
          const change = documentEdit(request);
          const document = documents.look(request.fiber_id);
          const isOurs = (change.set?.['svc.host'] ?? document.svc?.host ?? world.host) === world.host;
          requireFieldValues(change.set ?? {}, isOurs ? agents() : null);
          return {
            ...{ change, document, digest: request.expected_digest },
            planned: planned(document, change, request.restores === true),
          };
        }),
      show: async ({ document, planned, digest }) =>
        rehearsedWrite('write', await documents.planEdit(document, planned, digest)),
      async apply({ document, change, planned, digest }) {
        const shown = change.body === undefined ? await documents.planEdit(document, planned, digest) : null;
        let on = '';
        const plan = (current: FiberDocument) => {
          on = current.digest;
          return planned(current);
        };
        const { body, ...edited } = await documents.edit(document, plan, digest);
        const undo = shown === null ? undefined : undoOf(shown, on, edited.digest);
        return { fiber: rows.row(edited, body), ...(undo === undefined ? {} : { undo }) };
      },
    };
    return perform(write, asked);
  }

  nest<Q extends NestFiber>(asked: Q) {
    const { documents } = this.#parts;
    const write: Write<NestFiber, PlannedMove, Rehearsal, NestedReply> = {
      plan: ({ fiber_id, parent }) =>
        documents.whenRead(() => ({
          document: documents.look(fiber_id),
          under: parent === null ? null : documents.look(parent),
        })),
      show: async ({ document, under }) => rehearsedNest(await documents.planNest(document, under)),
      async apply({ document, under }) {
        const { new_id, rewritten, unwritten } = await documents.nest(document, under);
        return { fiber_id: document.id, new_id, rewritten, unwritten };
      },
    };
    return perform(write, asked);
  }
}
