import { endWords } from '../../../src/contract/end-words.ts';
import type { LifeEntry } from './wire.ts';
import { lasting } from './wording.ts';

/** One line of the time line of a fiber: who did it, what it was, and what there is to say of it. */
export type LifeLine = { tone: 'agent' | 'you' | 'fault' | 'quiet'; text: string; detail: string | null };

const BEGINNINGS = {
  dispatch: 'A worker was started',
  resume: 'A worker went on with its conversation',
  claim: 'A session became its worker',
  capture: 'It was captured',
  adopt: 'Its worker was found again',
} as const;

export function lifeLine(entry: LifeEntry): LifeLine {
  switch (entry.kind) {
    case 'dispatch':
    case 'resume':
    case 'claim':
    case 'capture':
    case 'adopt':
      return { tone: 'agent', text: BEGINNINGS[entry.kind], detail: entry.agent ?? entry.harness };
    case 'session':
      return { tone: 'quiet', text: 'Its worker went on in a new conversation', detail: null };
    case 'handoff':
      return { tone: 'agent', text: 'It was handed off', detail: after(entry.lasted_ms) };
    case 'ended':
      return {
        tone: entry.mend === undefined ? 'quiet' : 'fault',
        text: `Its worker ended: ${entry.detail ?? endWords(entry.reason)}`,
        detail: after(entry.lasted_ms),
      };
    case 'message':
      return {
        tone: entry.direction === 'received' ? 'you' : 'agent',
        text: entry.direction === 'received' ? `A message of ${entry.from}` : `A message to ${entry.to}`,
        detail: entry.status.replaceAll('_', ' '),
      };
    case 'prompts':
      return { tone: 'you', text: entry.count === 1 ? 'A prompt' : `${entry.count} prompts`, detail: null };
    case 'commit':
      return {
        tone: 'agent',
        text: entry.subject,
        detail: `${entry.sha.slice(0, 8)}, +${entry.insertions} −${entry.deletions}`,
      };
    case 'sent':
      return { tone: 'agent', text: `Sent ${entry.files.map(nameOf).join(', ')}`, detail: null };
    case 'closed':
    case 'reopened':
      return { tone: 'quiet', text: `It was ${entry.kind}`, detail: changerOf(entry) };
    case 'accepted':
    case 'composted':
      return {
        tone: entry.by_itself === undefined ? 'you' : 'quiet',
        text: entry.kind === 'accepted' ? 'It was accepted' : 'It was set aside',
        detail:
          entry.by_itself !== undefined ? 'by itself' : entry.exact ? changerOf(entry) : 'at the latest',
      };
  }
}

type Change = Extract<LifeEntry, { kind: 'closed' | 'reopened' | 'accepted' | 'composted' }>;

/** Who changed the document, as the ledger has it. */
function changerOf({ by, from, agent }: Change): string | null {
  if (by === undefined || by === 'document') return null;
  const who = { cli: 'with svc', board: 'on the board', http: 'over HTTP', daemon: 'by the daemon' };
  const words = by === 'agent' ? `by ${agent ?? 'an agent'}` : who[by];
  return from === undefined ? words : `${words}, from ${from}`;
}

/** The commits among what happened, the newest first. */
export function commitsIn(entries: readonly LifeEntry[]): Extract<LifeEntry, { kind: 'commit' }>[] {
  return entries.filter((entry) => entry.kind === 'commit').toReversed();
}

/** The last part of a path. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function after(lasted_ms: number | null): string | null {
  return lasted_ms === null ? null : `after ${lasting(lasted_ms)}`;
}
