import { type AccessPolicy, decideAccess, type Peer } from '../access/decide-access.ts';
import type { Logger } from '../base/logger.ts';
import type { Answering } from './answering.ts';
import { refusal } from './error-reply.ts';
import type { Call } from './request-call.ts';

/** Refuses requests by their head alone: a fault in its framing, a caller without access, an unknown expectation. */
export class Admission {
  readonly #access: AccessPolicy;
  readonly #logger: Logger;
  readonly #answers: Answering;

  constructor({ access, logger }: { access: AccessPolicy; logger: Logger }, answers: Answering) {
    this.#access = access;
    this.#logger = logger;
    this.#answers = answers;
  }

  /** False for a request that was answered with a refusal. */
  admits(call: Call, peer: Peer): boolean {
    const { head } = call;
    if (head.fault !== null) {
      this.#answers.fail(call, refusal('invalid_request', head.fault, { issues: [] }), true);
      return false;
    }
    const decision = decideAccess(
      {
        host: head.headers.host ?? null,
        origin: head.headers.origin ?? null,
        fetch_site: head.headers['sec-fetch-site'] ?? null,
        fetch_mode: head.headers['sec-fetch-mode'] ?? null,
        fetch_dest: head.headers['sec-fetch-dest'] ?? null,
        method: head.method,
        is_upgrade: head.headers.upgrade !== undefined,
        peer,
      },
      this.#access,
    );
    if (!decision.allow) {
      this.#logger.debug({ request_id: call.exchange.id, ...decision.body }, 'request refused');
      this.#answers.answer(call, { status: decision.status, json: decision.body });
      return false;
    }
    const { expect } = head.headers;
    if (expect !== undefined && expect.toLowerCase() !== '100-continue') {
      const sentence = 'The only expectation that a request may state is 100-continue.';
      this.#answers.fail(call, refusal('expectation_failed', sentence), true);
      return false;
    }
    return true;
  }
}
