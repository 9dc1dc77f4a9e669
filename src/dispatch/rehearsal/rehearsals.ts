import type { CaptureRefused } from '../../contract/http/capture.ts';
import type { Refused } from '../../contract/http/dispatch.ts';
import type { LifecycleAnswer, TransitionRefused } from '../../contract/http/lifecycle.ts';
import { type Rehearsal, rehearsal } from '../../contract/http/rehearsal.ts';
import type { CallInput } from '../../contract/threads/call-table.ts';
import type { pollerCalls } from '../../contract/threads/poller.ts';
import { rehearsedFile, rehearsedNest, rehearsedWrite } from '../../fibers/rehearsed-write.ts';
import { planAgentEffort } from '../../harness/agents/agent-effort.ts';
import { requireMayStart } from '../due/start-refusal.ts';
import type { PollerSettings } from '../poller-settings.ts';
import { type BrakeParts, rehearseBrakeRelease, rehearsePull } from '../requests/brake-requests.ts';
import { documentEdit, newFiber, storeForNew } from '../requests/document-requests.ts';
import type { LifecycleCalls } from '../requests/lifecycle-calls.ts';
import { rehearseDismissal, rehearseIncident } from '../requests/resume-incident.ts';
import type { StoreDocuments } from '../stores/store-documents.ts';
import { rehearseTerminal } from '../terminal/open-terminal.ts';

type Asked = CallInput<typeof pollerCalls, 'rehearse'>;
type Parts = BrakeParts & {
  documents: StoreDocuments;
  lifecycle: LifecycleCalls;
  settings: PollerSettings;
};
type Answer = Rehearsal | Refused | TransitionRefused | CaptureRefused | LifecycleAnswer;

/** Answers a write with `dry_run`: what it would do now. Nothing is written, locked, started or noted. */
export async function rehearse(parts: Parts, asked: Asked): Promise<Answer> {
  const { world, memory, dispatcher, documents, settings } = parts;
  switch (asked.write) {
    case 'dispatch':
      return dispatcher.rehearse(asked.request);
    case 'kill':
      return dispatcher.kills.rehearse(asked.request.fiber_id);
    case 'create_fiber': {
      const { request } = asked;
      const parent = request.parent === undefined ? undefined : documents.find(request.parent);
      const root = storeForNew(documents.roots, request.store, parent?.store);
      return rehearsedWrite('create', documents.rehearseCreate(root, newFiber(request, parent?.id)));
    }
    case 'edit_fiber': {
      const { request } = asked;
      const change = documentEdit(request);
      const document = documents.find(request.fiber_id);
      return rehearsedWrite(
        'write',
        await documents.rehearseEdit(document, () => change, request.expected_digest),
      );
    }
    case 'nest_fiber': {
      const { fiber_id, parent } = asked.request;
      const under = parent === null ? null : documents.look(parent);
      return rehearsedNest(await documents.rehearseNest(documents.look(fiber_id), under));
    }
    case 'lifecycle':
      return parts.lifecycle.rehearse(asked.request);
    case 'transition':
      return parts.lifecycle.rehearseMove(asked.request);
    case 'capture': {
      const root = storeForNew(documents.roots, asked.request.store, undefined);
      requireMayStart(memory, root, { look: false });
      return asked.request.surface === 'app'
        ? dispatcher.appCaptures.rehearse(asked.request, root)
        : dispatcher.captures.rehearse(asked.request, root);
    }
    case 'claim': {
      // A claim in earnest waits for the listing that has a new fiber; here it is looked for by itself.
      documents.look(asked.request.fiber_id);
      return asked.request.surface === 'app'
        ? dispatcher.appClaims.rehearse(asked.request)
        : dispatcher.claims.rehearse(asked.request);
    }
    case 'agent_effort': {
      const { id, effort } = asked.request;
      const { path, before, after, agent } = planAgentEffort(settings, id, effort);
      return rehearsedFile(`write the default effort of ${agent.id}`, path, {
        before,
        after: after ?? before,
      });
    }
    case 'resume_session':
      return dispatcher.rehearseResume(asked.request);
    case 'open_terminal':
      return rehearseTerminal(world, dispatcher, asked.request);
    case 'resume_incident':
      return rehearseIncident(parts, asked.request.id);
    case 'dismiss_incident':
      return rehearseDismissal(memory, asked.request.id);
    case 'release_quarantine':
      return rehearseRelease(dispatcher.rounds.pending().map(({ document }) => document.id));
    case 'pull_brake':
      return rehearsePull(parts, asked.request);
    case 'release_brake':
      return rehearseBrakeRelease(parts, asked.request);
  }
}

function rehearseRelease(fibers: readonly string[]): Rehearsal {
  if (fibers.length === 0) return rehearsal('release nothing: no fiber is held');
  const what = fibers.length === 1 ? 'fiber' : 'fibers';
  return rehearsal(`release ${fibers.length} held ${what}: ${fibers.join(', ')}`);
}
