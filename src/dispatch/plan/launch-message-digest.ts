import { sha256Of } from '../../base/digest.ts';
import { HARNESS_NAMES } from '../../contract/harness-name.ts';
import { captureReference, workerSkills } from './launch-message.ts';
import { buildPrompt, type CaptureMessageFacts, type FiberMessageFacts } from './prompt.ts';

const SHARED = { run_id: 'run', launch_id: 'launch', user_message: 'words' } as const;
const FIBER: Omit<FiberMessageFacts, 'skills'> = {
  ...SHARED,
  variant: 'fiber',
  fiber: 'fiber',
  store: 'store',
  kind: 'oneshot',
  surface: 'cli',
  headless: true,
  standing_mode: null,
  resumed: false,
  previous: null,
  collaboration: null,
};
const PREVIOUS = { session_uuid: 'session', harness: HARNESS_NAMES[0], transcript: null };
const CAPTURE: Omit<CaptureMessageFacts, 'skills' | 'reference'> = {
  ...SHARED,
  variant: 'capture',
  surface: 'app',
  headless: false,
  install: {},
  claim: { url: 'url', socket: 'socket', body: {}, command: 'command' },
};

/** Launch messages in which each sentence that there is occurs, with the skills in this folder. */
export function everyLaunchMessage(folder: string): string[] {
  const skills = workerSkills(folder);
  const fiber = (facts: Partial<FiberMessageFacts>) => buildPrompt({ ...FIBER, skills, ...facts });
  return [
    fiber({ previous: { ...PREVIOUS, cut_off: false } }),
    fiber({ kind: 'standing', standing_mode: 'scheduled', headless: false, resumed: true }),
    fiber({
      kind: 'pinned',
      previous: { ...PREVIOUS, cut_off: true, transcript: 'transcript' },
      collaboration: { roster: { reviewer: ['ada'] }, role_store: 'roles' },
    }),
    fiber({
      kind: 'standing',
      standing_mode: 'ad-hoc',
      previous: { ...PREVIOUS, cut_off: true, doubt: 'doubt' },
      collaboration: { roster: { author: ['ada'], reviewer: ['bob'] }, role_store: null },
    }),
    fiber({ surface: 'app', previous: { ...PREVIOUS, cut_off: true } }),
    buildPrompt({ ...CAPTURE, skills, reference: captureReference(folder) }),
  ];
}

/**
 * Names what the launch messages say: the worker skills hold the digest that they were written for, so that neither
 * changes without the other (VER-3).
 */
export function launchMessageDigest(): string {
  return sha256Of(everyLaunchMessage('').join('\0')).slice(0, 12);
}
