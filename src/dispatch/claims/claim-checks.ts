import { CodedError } from '../../base/errors.ts';
import { shellWord } from '../../base/shell-word.ts';
import type { FiberDocument } from '../../contract/fiber.ts';
import type { Claimed } from '../../contract/http/capture.ts';
import { type Rehearsal, rehearsal } from '../../contract/http/rehearsal.ts';
import { SURFACE_RULES, type Surface } from '../../contract/surface.ts';
import { rehearsedWrite } from '../../fibers/rehearsed-write.ts';
import { claimMarkersOf, needsMark } from '../edits/claim-markers.ts';
import type { Memory } from '../holds/memory.ts';
import { describeTwins } from '../plan/preflight.ts';
import type { Run } from '../run/run.ts';
import { workerIdentity } from '../run/runs.ts';
import type { RunManifest } from '../run-directory/run-records.ts';
import type { World } from '../world/world.ts';

/** What claims need of the dispatcher. */
export type ClaimPorts = {
  /** Resolves when the sessions of an earlier daemon are known; throws `mux_unavailable`. */
  adopted(): Promise<void>;
  /** The start of this fiber that is under way. */
  underWay(key: string): Promise<unknown> | undefined;
  onMoved(keys: Iterable<string>): void;
};

/** Its worker may have ended, and the claim been taken back, while the document was locked. */
export function requireCurrent(memory: Pick<Memory, 'runs'>, run: Run): void {
  if (memory.runs.get(run.key)?.launch_id !== run.launch_id)
    throw new CodedError('conflict', `the worker of ${run.fiber_id} has just ended; claim it again`);
}

/** What a claim writes; the run of a session that no capture of ours began gets a new id each time. */
export async function showClaim(
  { host, daemonId: daemon, documents }: World,
  claim: {
    kind: 'again' | 'new';
    document: FiberDocument;
    meeting: string | undefined;
    run: Run;
    name: string;
  },
): Promise<Rehearsal> {
  const { kind, document, meeting, run, name } = claim;
  if (kind === 'again' && !needsMark(document, run, meeting))
    return rehearsal(`write nothing: ${name} is the worker of ${document.id} already`);
  const marked = await documents.planChange(document, (current) =>
    claimMarkersOf(current, run, { host, daemon, meeting }),
  );
  const shown = rehearsedWrite('write', marked);
  if (kind === 'new' && run.claim === 'person') shown.minted.run_id = run.run_id;
  return { ...shown, would: `make ${name} the worker of ${marked.document.id}` };
}

/** The document that a conversation of this surface may be claimed for; throws what keeps it from that. */
export function claimableDocument(
  { documents, host }: Pick<World, 'documents' | 'host'>,
  fiber_id: string,
  surface: Surface,
): FiberDocument {
  const known = documents.find(fiber_id);
  const document = documents.reread(known);
  if (document === undefined)
    throw new CodedError('fiber_not_found', `${known.id} is no longer in ${known.store}`);
  const { id, svc } = document;
  if (document.error !== undefined)
    throw new CodedError('invalid_document', `${document.path} cannot be read: ${document.error}`);
  const twins = documents.twins(document);
  if (twins.length > 0) throw new CodedError('ambiguous_fiber', describeTwins([document, ...twins]));
  if (document.uid === null)
    throw new CodedError(
      'uid_missing',
      `${id} has no ULID in its frontmatter; \`svc install ${shellWord(id)}\` writes one`,
    );
  if (svc?.host !== undefined && svc.host !== host)
    throw new CodedError(
      'arm_refused',
      `${id} belongs to host ${svc.host}, and this is ${host}; claim it there`,
    );
  if (svc?.surface !== undefined && svc.surface !== surface)
    throw new CodedError(
      'surface_unsupported',
      `${id} runs ${SURFACE_RULES[svc.surface].runs} (svc.surface), so ${SURFACE_RULES[surface].worker} cannot be its worker`,
    );
  return document;
}

/** What is known of a worker before a fiber is claimed for it. */
export type Claimable = Pick<
  RunManifest,
  | 'claim'
  | 'launch_id'
  | 'run_id'
  | 'agent'
  | 'harness'
  | 'session_uuid'
  | 'project_dir'
  | 'mux_session'
  | 'surface'
  | 'app'
>;

/** The record of the run that a claim makes of what was found, which ran before it. */
export function claimManifest(
  { clock, bootId }: Pick<World, 'clock' | 'bootId'>,
  document: FiberDocument,
  found: Claimable,
  meeting: string | undefined,
): RunManifest {
  const { id, uid, leaf, store, path } = document;
  return {
    version: 1,
    ...found,
    fiber: id,
    uid: uid ?? '',
    ...{ leaf, store, path },
    dispatched_at: clock.now(),
    state: 'claimed',
    ended_at: null,
    boot_id: bootId,
    ...(meeting === undefined ? {} : { meeting }),
  };
}

export function otherWorker(document: FiberDocument, run: Run): CodedError {
  return new CodedError(
    'worker_exists',
    `${document.id} has another worker, ${run.mux_session}; end it with \`svc kill ${shellWord(document.id)}\` before you claim it`,
    { details: { fiber_id: document.id, mux_session: run.mux_session } },
  );
}

export function claimedReply(host: string, run: Run, already_claimed: boolean): Claimed {
  return {
    claimed: true,
    already_claimed,
    ...workerIdentity(host, run),
  };
}
