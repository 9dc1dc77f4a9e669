import type { FiberDocument, FiberKind } from '../contract/fiber.ts';
import type { Surface } from '../contract/surface.ts';
import { requireSchedule, requireZone } from '../fibers/field-values.ts';
import { chooseAgent, type KnownAgents } from './agent-verbs.ts';
import {
  armed,
  noteWorktree,
  type PlannedEdit,
  requireProjectDir,
  requireService,
  stamp,
} from './planned-edit.ts';

/** The input of the verbs that make a fiber a service; absent fields keep the values of the document. */
export type ServiceFields = {
  /** The host that owns dispatch; written if the document names none or `host` was requested. */
  host?: string;
  /** Host of this machine, for a document without one. */
  thisHost: string;
  /** Absolute; the owner checks that it is a directory when a worker is started (DSP-4). */
  project_dir?: string;
  agent?: string;
  effort?: string;
  surface?: Surface;
  /** The next start makes a git worktree. */
  worktree?: true;
  /** Null for a fiber of another host, which checks the agent at the launch. */
  known: KnownAgents | null;
  /** The ULID for a document without one, which could not be dispatched (DSP-9). */
  newUid: string;
};
export type RepeatFields = ServiceFields & {
  /** Five cron fields, or a name such as @daily. */
  schedule: string;
  tz?: string;
  /** Whether a run without fault that left an outcome is accepted by itself; absent: as before. */
  auto_accept?: boolean;
  /** True while a worker of the fiber runs. */
  running?: boolean;
  /** Time zone of this machine; recorded with the role if neither the verb nor the document names one. */
  thisZone: string;
};

/**
 * Makes a fiber a oneshot and arms it; throws `project_dir_missing` or `invalid_request`, and the errors of
 * `chooseAgent` for a requested agent, effort or surface.
 */
export function planInstall(document: FiberDocument, fields: ServiceFields): PlannedEdit {
  const edit = serviceEdit(document, 'oneshot', fields);
  edit.set['svc.project_dir'] = requireProjectDir(document, fields.project_dir);
  return armed({ set: edit.set, unset: [...edit.unset, ...ROLE_KEYS] });
}

/**
 * Makes a fiber a standing role and arms it. A new or changed schedule counts from now (`handed_off_at`), so that
 * occurrences before it are not caught up (STD-1).
 */
export function planRepeat(document: FiberDocument, fields: RepeatFields, now: number): PlannedEdit {
  const schedule = requireSchedule(fields.schedule);
  const tz = requireZone(fields.tz ?? document.svc?.tz ?? fields.thisZone);
  const edit = serviceEdit(document, 'standing', fields);
  edit.set['svc.project_dir'] = requireProjectDir(document, fields.project_dir);
  edit.set['svc.schedule'] = schedule;
  edit.set['svc.tz'] = tz;
  noteAutoAccept(edit, fields.auto_accept);
  const { svc } = document;
  // While a worker runs, its end stamps the role; a stamp now would be mistaken for its handoff.
  if (fields.running !== true && (svc?.kind !== 'standing' || svc.schedule !== schedule || svc.tz !== tz)) {
    edit.set['svc.runtime.handed_off_at'] = stamp(now);
  }
  return armed(edit);
}

/** Makes a fiber a pinned role: parked, started only by hand. */
export function planPin(document: FiberDocument, fields: ServiceFields): PlannedEdit {
  const edit = serviceEdit(document, 'pinned', fields);
  const projectDir = fields.project_dir ?? document.svc?.project_dir;
  if (projectDir !== undefined) edit.set['svc.project_dir'] = requireProjectDir(document, projectDir);
  return {
    set: { ...edit.set, status: 'open' },
    unset: [...edit.unset, 'tempered', ...ROLE_KEYS],
  };
}

/**
 * Removes the svc block and parks an armed fiber; a closed document keeps its verdict. No change without a svc block.
 */
export function planUninstall(document: FiberDocument): PlannedEdit | null {
  if (document.svc === undefined) return null;
  if (document.status === 'closed') return { set: {}, unset: ['svc'] };
  return { set: { status: 'open' }, unset: ['svc', 'tempered'] };
}

/** Records that the worker is done with its conversation (LIF-7); the next dispatch starts fresh (RES-2). */
export function planHandoff(document: FiberDocument, now: number): PlannedEdit {
  requireService(document, 'hand off');
  return { set: { 'svc.runtime.handed_off_at': stamp(now) }, unset: [] };
}

/** Keys of the block that only a standing role has. */
export const ROLE_KEYS = ['svc.schedule', 'svc.tz', 'svc.auto_accept'];

/** Writes or removes `svc.auto_accept`; without a word on it the document keeps what it says. */
export function noteAutoAccept(edit: PlannedEdit, auto_accept: boolean | undefined): void {
  if (auto_accept === true) edit.set['svc.auto_accept'] = true;
  else if (auto_accept === false) edit.unset.push('svc.auto_accept');
}

function serviceEdit(document: FiberDocument, kind: FiberKind, fields: ServiceFields): PlannedEdit {
  const set: PlannedEdit['set'] = {
    'svc.kind': kind,
    'svc.host': fields.host ?? document.svc?.host ?? fields.thisHost,
  };
  if (document.uid === null) set.id = fields.newUid;
  const { agent, effort, surface } = fields;
  const isAsked = [agent, effort, surface].some((field) => field !== undefined);
  const chosen = isAsked ? chooseAgent(document, { agent, effort, surface }, fields.known) : null;
  if (surface !== undefined) set['svc.surface'] = surface;
  const edit: PlannedEdit = { set: { ...set, ...chosen?.set }, unset: chosen?.unset ?? [] };
  noteWorktree(edit, document, fields);
  return edit;
}
