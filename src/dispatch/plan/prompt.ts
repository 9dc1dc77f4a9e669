import type { Roster } from '../../contract/fiber.ts';
import { FROM_USER, LAUNCH_PREAMBLE } from '../../contract/launch-message.ts';
import type { Surface } from '../../contract/surface.ts';

/** A skill that a worker is told to activate: its name, and the absolute path of its SKILL.md. */
type SkillReference = { name: string; path: string };

/** The two skills that every launch message names. */
export type WorkerSkills = { store: SkillReference; service: SkillReference };

/** The session before this one, as the document's markers tell it. */
export type PreviousSession = {
  session_uuid: string;
  harness: string;
  /** True when it ended without a handoff. */
  cut_off: boolean;
  /** Absolute path of its transcript; null when it is not on this host. */
  transcript: string | null;
  /** Why nothing could be told of its transcript: the disk did not answer. */
  doubt?: string;
};

/** Facts of a start that works on a fiber. */
export type FiberMessageFacts = {
  variant: 'fiber';
  skills: WorkerSkills;
  fiber: string;
  store: string;
  kind: 'oneshot' | 'standing' | 'pinned';
  surface: Surface;
  /** True when nobody is expected to sit at the terminal. */
  headless: boolean;
  run_id: string;
  /** Unique to this start; a harness that assigns its own session ids is recognised by it. */
  launch_id: string;
  /** Why a standing role runs; null for other kinds. */
  standing_mode: 'scheduled' | 'ad-hoc' | null;
  /** True when the conversation goes on in its old session. */
  resumed: boolean;
  previous: PreviousSession | null;
  /** The fiber's roster, and the folder with the shared role descriptions where there is one. */
  collaboration: { roster: Roster; role_store: string | null } | null;
  user_message: string | null;
};

/** Facts of a start that turns a free text into a fiber. */
export type CaptureMessageFacts = {
  variant: 'capture';
  skills: WorkerSkills;
  /** Absolute path of the service skill's capture reference. */
  reference: string;
  surface: Surface;
  headless: boolean;
  run_id: string;
  launch_id: string;
  /** What the new fiber is to be installed with: host, store, agent and so on. */
  install: Record<string, unknown>;
  /** The request that binds the session to the fiber it files. */
  claim: {
    url: string;
    /** Path of the Unix socket that the request goes through; null for a TCP address. */
    socket: string | null;
    body: Record<string, unknown>;
    /** The same as a command of `svc`. */
    command: string;
  };
  user_message: string | null;
};

export type PromptFacts = FiberMessageFacts | CaptureMessageFacts;

/**
 * The message that a start begins with: one fixed sentence, then only this dispatch's facts, one a line, then
 * the user's words exactly as they were given (PRM-1 to PRM-8).
 */
export function buildPrompt(facts: PromptFacts): string {
  const { store, service } = facts.skills;
  const lines = [
    `${LAUNCH_PREAMBLE} activate the skills ${store.name} and ${service.name} before you do anything else.`,
    fact(`Skill ${store.name}`, store.path),
    fact(`Skill ${service.name}`, service.path),
    ...(facts.variant === 'fiber' ? fiberFacts(facts) : captureFacts(facts)),
  ];
  const { user_message } = facts;
  if (user_message !== null && user_message.trim() !== '') lines.push(`${FROM_USER}\n${user_message}`);
  return lines.join('\n');
}

function fiberFacts(facts: FiberMessageFacts): string[] {
  return [
    fact('Fiber', facts.fiber),
    fact('Store', facts.store),
    fact('Kind', facts.kind),
    ...sharedFacts(facts),
    ...(facts.standing_mode === null ? [] : [fact('Mode', facts.standing_mode)]),
    ...(facts.resumed ? RESUMED : previousSession(facts.previous)),
    ...collaboration(facts.collaboration),
  ];
}

function captureFacts(facts: CaptureMessageFacts): string[] {
  return [
    fact('Capture', facts.reference),
    ...sharedFacts(facts),
    `Install: ${JSON.stringify(facts.install)}`,
    fact('Claim', `POST ${facts.claim.url}`),
    ...(facts.claim.socket === null ? [] : [fact('Claim socket', facts.claim.socket)]),
    `Claim body: ${JSON.stringify(facts.claim.body)}`,
    fact('Claim command', facts.claim.command),
  ];
}

function sharedFacts(facts: PromptFacts): string[] {
  return [
    fact('Surface', facts.surface),
    fact('Headless', facts.headless ? 'yes' : 'no'),
    fact('Run', facts.run_id),
    ...(facts.launch_id === facts.run_id ? [] : [fact('Launch', facts.launch_id)]),
  ];
}

const RESUMED = [
  'Mode: resume',
  'This session goes on after a pause: sync the store and read the fiber again before you continue.',
];

function previousSession(previous: PreviousSession | null): string[] {
  if (previous === null) return [];
  const line = fact('Previous session', `${previous.session_uuid} (${previous.harness})`);
  if (!previous.cut_off) return [line];
  return [`${line}; it ended without a handoff and is not resumed; ${placeOf(previous)}`];
}

function placeOf({ transcript, doubt }: PreviousSession): string {
  if (transcript !== null) return `transcript: ${oneLine(transcript)}`;
  return doubt === undefined
    ? 'its transcript is not on this host'
    : `its transcript could not be looked for (${oneLine(doubt)})`;
}

function collaboration(facts: FiberMessageFacts['collaboration']): string[] {
  if (facts === null || Object.keys(facts.roster).length === 0) return [];
  const { roster, role_store } = facts;
  const roles = Object.keys(roster)
    .filter((role) => role.trim() !== '')
    .sort();
  if (roles.length === 0) return [];
  const people = [...new Set(Object.values(roster).flat())];
  const parts =
    roles.length === 1 && people.length === 1
      ? [`role ${roles[0]}`, `collaborator ${people[0]}`]
      : [`${roles.length === 1 ? 'role' : 'roles'} ${roles.join(', ')}`];
  if (role_store !== null) parts.push(`role store ${role_store}`);
  return [fact('Collaboration', parts.join('; '))];
}

function fact(label: string, value: string): string {
  return `${label}: ${oneLine(value)}`;
}

/** A value that would begin a line of its own is quoted, so that no file name can pose as a fact. */
function oneLine(value: string): string {
  return /[\u0000-\u001f\u007f\u0085\u2028\u2029]/.test(value) ? JSON.stringify(value) : value;
}
