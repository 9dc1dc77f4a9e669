import { z } from 'zod';

/** What a request came from: `svc` at a prompt, `svc` in the session of an agent, a browser, any other program. */
const SENDERS = ['cli', 'agent', 'board', 'http'] as const;
type Sender = (typeof SENDERS)[number];

/** Header in which `svc`, or a daemon that passes a request on, tells what the request came from. */
export const ASKED_BY_HEADER = 'svc-asked-by';

/** Who changed the state of a fiber: what sent a request, the daemon by itself, or somebody in the document. */
export const changedBySchema = z.enum([...SENDERS, 'daemon', 'document']);
export type ChangedBy = z.infer<typeof changedBySchema>;

/** Only a browser states an origin. */
export function senderOf(headers: Readonly<Record<string, string | undefined>>): Sender {
  const told = SENDERS.find((one) => one === headers[ASKED_BY_HEADER]);
  return told ?? (headers.origin === undefined ? 'http' : 'board');
}

/** The sender, and the host whose daemon passed the request on, as one word. */
export function askedBy(sender: Sender, host: string | undefined): string {
  return host === undefined ? sender : `${sender}@${host}`;
}

/** The same apart again. */
export function readAskedBy(text: string): { by: ChangedBy; from?: string } {
  const at = text.indexOf('@');
  const by = SENDERS.find((one) => one === (at === -1 ? text : text.slice(0, at))) ?? 'http';
  return at === -1 ? { by } : { by, from: text.slice(at + 1) };
}
