import { createHash } from 'node:crypto';
import { jsonOf } from '../../base/json-text.ts';

/** What `svc-hook.sh` left of one event: where the hook ran, as its environment tells, and what its program said. */
export type SpooledHook = {
  harness: string;
  /** `SVC_RUN_DIR`, `TMUX` and `TMUX_PANE`; empty where they were not set. */
  run_dir: string;
  tmux: string;
  pane: string;
  /** A JSON object. */
  input: object;
};

/** How far a file has come: nothing of it is recorded; its run has its lines; only its commit is missing. */
export type SpoolStage = 'new' | 'told' | 'commit';

/** A file of the spool by its name: the process of the hook, and which one of it. */
export type SpoolName = { name: string; pid: number; count: number; stage: SpoolStage };

/** With the time of its last write, in nanoseconds. */
export type SpoolFile = SpoolName & { written_ns: bigint };

const VERSION = '1';
const NAME = /^(\d{1,15})\.(\d{1,9})(?:\.(told|commit))?$/;
/** Process ids start again from the beginning at some number, at 32,768 or above. */
const FAR_APART = 16_384;

/** Null for a name that is no event. */
export function parseSpoolName(name: string): SpoolName | null {
  const [, pid, count, stage] = NAME.exec(name) ?? [];
  if (pid === undefined) return null;
  return { name, pid: Number(pid), count: Number(count), stage: (stage ?? 'new') as SpoolStage };
}

/** The name of the same event at a stage. */
export function spoolNameAt({ pid, count }: SpoolName, stage: SpoolStage): string {
  return stage === 'new' ? `${pid}.${count}` : `${pid}.${count}.${stage}`;
}

/**
 * The order in which hooks ended. The clock of a file system may stand still for some milliseconds, in which the process ids
 * tell the order.
 */
export function compareSpooled(a: SpoolFile, b: SpoolFile): number {
  if (a.written_ns !== b.written_ns) return a.written_ns < b.written_ns ? -1 : 1;
  if (a.pid === b.pid) return a.count - b.count;
  const first = a.pid < b.pid ? -1 : 1;
  return Math.abs(a.pid - b.pid) < FAR_APART ? first : -first;
}

/**
 * The event in the text of a file; null if it is not complete, or none. A hook may still be writing: no beginning of a JSON
 * object is one.
 */
export function parseSpooled(text: string): SpooledHook | null {
  if (!text.trimEnd().endsWith('}')) return null;
  const [version, harness = '', run_dir = '', tmux = '', pane = ''] = text.split('\n', 5);
  if (version !== VERSION) return null;
  const header = [version, harness, run_dir, tmux, pane].join('\n').length + 1;
  const input = jsonOf(text.slice(header));
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return null;
  return { harness, run_dir, tmux, pane, input };
}

/** The id of the line of an event, in the form of a UUID: the same each time that its file is read. */
export function idOfSpooled({ pid, count, written_ns }: SpoolFile, text: string): string {
  const hex = createHash('sha256').update(`${pid}.${count} ${written_ns}\n${text}`).digest('hex');
  const variant = '89ab'[Number.parseInt(hex[16] ?? '0', 16) % 4];
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
