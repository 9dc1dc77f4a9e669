import { CodedError } from '../../../base/errors.ts';
import { shellWord } from '../../../base/shell-word.ts';
import type { FiberRow } from '../../../contract/fiber.ts';
import type { SessionsComposite } from '../../../contract/http/sessions.ts';
import type { SessionLine } from '../../../contract/ledger.ts';
import { requireOwnUid } from '../../../contract/own-uid.ts';

/** What the ledger of a host says of the sessions of a fiber; null names the host that answers. */
export function linesOfHost({ host, origins }: SessionsComposite, at: string | null): SessionLine[] {
  return origins[at ?? host]?.read?.sessions ?? [];
}

/** The conversation of the worker that runs; null where none runs, and until it is known. */
export function runningSession({ runtime }: Pick<FiberRow, 'runtime'>): string | null {
  return runtime?.transcript_session_uuid ?? runtime?.session_uuid ?? null;
}

/**
 * The conversation to show: the one whose id begins with `wanted`, else that of the running worker, else the last one.
 * Throws `session_not_found`, and `invalid_request` where several begin so.
 */
export function chooseConversation(
  fiber: Pick<FiberRow, 'id' | 'path' | 'twins' | 'runtime' | 'svc'>,
  lines: readonly SessionLine[],
  wanted: string | undefined,
): string {
  const known = [...new Set(lines.flatMap(({ session }) => (session === null ? [] : [session])))];
  if (wanted !== undefined) return sessionBeginning(known, wanted, fiber.id);
  if (fiber.runtime === undefined) requireOwnUid(fiber);
  const last = runningSession(fiber) ?? known.at(-1) ?? fiber.svc?.runtime?.session_uuid;
  if (last !== undefined) return last;
  throw new CodedError(
    'session_not_found',
    fiber.runtime === undefined
      ? `no worker of ${fiber.id} has spoken yet; what keeps one from starting: svc why ${shellWord(fiber.id)}`
      : `the worker of ${fiber.id} has not spoken yet; see it with: svc attach ${shellWord(fiber.id)}`,
  );
}

function sessionBeginning(known: readonly string[], wanted: string, fiber: string): string {
  const [only, ...others] = known.filter((session) => session.startsWith(wanted));
  if (only === undefined || only === wanted || known.includes(wanted)) return wanted;
  if (others.length === 0) return only;
  throw new CodedError(
    'invalid_request',
    `${others.length + 1} sessions of ${fiber} begin with ${wanted}; give more of the id, as svc log ${shellWord(fiber)} --json has it`,
  );
}
