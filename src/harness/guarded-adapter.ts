import type { Clock } from '../base/clock.ts';
import type { HarnessName } from '../contract/harness-name.ts';
import type { Disks } from '../platform/disks.ts';
import type { HarnessAdapter, HarnessFinding, TranscriptProbe } from './adapter.ts';
import { forEachHarness, harnessFolder } from './harnesses.ts';

export type DiskGuard = { disks: Pick<Disks, 'prove'>; clock: Clock; env: NodeJS.ProcessEnv };

/** Timeout of a search, in milliseconds, in case the disk stops answering during it. */
const SEARCH_LIMIT_MS = 5_000;

/**
 * The adapters, called only for folders whose disks answer: a search on a silent disk would block one of the few file
 * system threads of the runtime.
 */
export function guardAdapters(
  adapters: Record<HarnessName, HarnessAdapter>,
  guard: DiskGuard,
): Record<HarnessName, HarnessAdapter> {
  return forEachHarness(({ name }) => guarded(adapters[name], guard));
}

/** The first of these paths whose disk does not answer, as a sentence; null if all do. */
export async function silentAmong(
  paths: readonly string[],
  disks: Pick<Disks, 'prove'>,
): Promise<string | null> {
  for (const path of paths) {
    const proof = await disks.prove(path);
    if (proof === 'silent') return `the disk of ${path} does not answer`;
    if (proof === 'unchecked') return `${path} was not checked yet`;
  }
  return null;
}

function guarded(adapter: HarnessAdapter, { disks, clock, env }: DiskGuard): HarnessAdapter {
  return {
    ...adapter,
    async findTranscript(query) {
      const silent = await silentAmong([query.project_dir, harnessFolder(query.agent, env)], disks);
      if (silent !== null) return { kind: 'unknown', detail: silent };
      return within(clock, adapter.findTranscript(query), query.project_dir);
    },
    async checkFirstRun(query) {
      const folders = query.project_dir === null ? [] : [query.project_dir];
      const silent = await silentAmong([...folders, harnessFolder(query.agent, env)], disks);
      return silent === null ? adapter.checkFirstRun(query) : [unreachable(silent)];
    },
    async signIn(agent) {
      const silent = await silentAmong([harnessFolder(agent, env)], disks);
      return silent === null ? adapter.signIn(agent) : { signed_in: null, mend: unreachable(silent).mend };
    },
  };
}

function within(
  clock: Clock,
  search: Promise<TranscriptProbe>,
  project_dir: string,
): Promise<TranscriptProbe> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(SEARCH_LIMIT_MS, () =>
      resolve({
        kind: 'unknown',
        detail: `the transcripts of ${project_dir} were not found within ${SEARCH_LIMIT_MS / 1000} s`,
      }),
    );
    search.then(resolve, reject).finally(cancel);
  });
}

/** The finding about a folder whose disk does not answer, from the sentence of `silentAmong`. */
export function unreachable(silent: string): HarnessFinding {
  return {
    severity: 'error',
    what: `${silent}, so nothing starts there`,
    mend: 'mount the disk again, or give the fiber another folder with: svc reshape <fiber> --project-dir <dir>',
  };
}
