import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FiberRow } from '../../src/contract/fiber.ts';
import type { LaunchOnDisk } from './real-daemon.ts';

/** Where what a worker is shown to do was told by no hook and by no transcript. */
export function phaseContradictions(row: FiberRow, launch: LaunchOnDisk): string[] {
  const run = row.runtime;
  if (run === undefined || run.phase === 'unknown') return [];
  if (run.phase_source !== 'hook')
    return run.session_uuid === null ? [`${row.id} is ${run.phase} by a transcript that is not known`] : [];
  const path = join(launch.dir, 'phases.jsonl');
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];
  const signs = lines.map((line) => JSON.parse(line) as { at: number; session: string; phase: string });
  const own = signs.filter(({ session }) => session === run.session_uuid);
  const last = own.toSorted((a, b) => a.at - b.at).at(-1);
  if (last?.phase !== run.phase) return [`${row.id} is ${run.phase}, and its hooks say ${last?.phase}`];
  return own.some(({ at, phase }) => at === run.phase_since && phase === run.phase)
    ? []
    : [`${row.id} is ${run.phase} since ${run.phase_since}, and no hook said so then`];
}
