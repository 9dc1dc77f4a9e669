import type { Target } from '../target.ts';
import { hooks, transcripts } from './agents.ts';
import { documentBody, documentEdit, documentRead } from './documents.ts';
import { frames } from './frames.ts';
import { commits, events, sessions } from './ledgers.ts';
import { operatorFiles, operatorSplice } from './operator-files.ts';

/** Every reader of what people, agents and other programs write; a name twice is tried twice as often. */
export const TARGETS: readonly Target[] = [
  documentRead,
  documentEdit,
  documentRead,
  documentEdit,
  documentBody,
  events,
  sessions,
  commits,
  ...operatorFiles,
  operatorSplice,
  ...transcripts,
  hooks,
  frames,
];
