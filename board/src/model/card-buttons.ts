import type { GestureId, MoveName } from './gestures.ts';
import { type CardState, stopOf } from './states.ts';
import type { FiberRow } from './wire.ts';

/** The gesture that a drop on a column stands for, by the name of the column. */
export const COLUMN_GESTURES: Readonly<Record<string, MoveName>> = {
  Drafts: 'drafts',
  'In flight': 'launch',
  'Awaiting review': 'review',
};

/** A gesture as a button of the card, with the word on it. */
export type CardButton = { id: GestureId; name: string };

/** The buttons that a card in this state shows, the one that stands out last. */
export function buttonsOf(row: FiberRow, state: CardState): readonly CardButton[] {
  const { error, blocked } = row;
  if (error !== undefined) return [];
  if (state === 'review')
    return [
      { id: 'set_aside', name: 'Set aside' },
      { id: 'accept', name: 'Accept' },
    ];
  if (state === 'resting') return [{ id: 'drafts', name: 'Bring back' }];
  if (state === 'waiting')
    return [stopOf(row) === undefined ? { id: 'reply', name: 'Reply' } : { id: 'watch', name: 'Look at it' }];
  if (state === 'held') return [{ id: 'launch', name: 'Launch' }];
  if (state !== 'blocked' || blocked === undefined) return [];
  if (AGENT_REFUSALS.has(blocked.reason)) return [{ id: 'agent', name: 'Choose agent' }];
  return [{ id: 'launch', name: FOLDER_REFUSALS.has(blocked.reason) ? 'Choose folder' : 'Launch' }];
}

/** Refusals that another folder fixes, and those that another agent does. */
const FOLDER_REFUSALS: ReadonlySet<string> = new Set(['project_dir_missing', 'project_dir_in_store']);
const AGENT_REFUSALS: ReadonlySet<string> = new Set(['agent_unknown', 'agent_unavailable', 'effort_unknown']);
