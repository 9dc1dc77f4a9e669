import { join } from 'node:path';
import type { FiberDocument } from '../contract/fiber.ts';
import { buildPrompt, type PreviousSession, type WorkerSkills } from './prompt.ts';
import type { Authority } from './run-id.ts';
import type { Run } from './runs.ts';
import { handedOff } from './runtime-times.ts';
import type { World } from './world.ts';

/** The launch message of one run of a fiber (PRM-1 to PRM-7). */
export async function launchPrompt(
  world: World,
  document: FiberDocument,
  run: Run,
  authority: Authority,
): Promise<string> {
  const kind = document.svc?.kind ?? 'oneshot';
  return buildPrompt({
    variant: 'fiber',
    skills: workerSkills(world.skillsDir),
    fiber: document.id,
    store: document.store,
    kind,
    surface: run.surface,
    headless: authority.kind === 'poll',
    run_id: run.run_id,
    launch_id: run.launch_id,
    standing_mode: kind !== 'standing' ? null : authority.kind === 'poll' ? 'scheduled' : 'ad-hoc',
    resumed: false,
    previous: await previousSession(world, document, run),
    collaboration:
      document.collaboration === undefined ? null : { roster: document.collaboration, role_store: null },
    user_message: authority.kind === 'request' ? authority.user_message : null,
  });
}

/** The two skills, and where a worker that has not installed them can read them (PRM-8). */
export function workerSkills(folder: string): WorkerSkills {
  const skill = (name: string) => ({ name, path: join(folder, name, 'SKILL.md') });
  return { store: skill('fiber-store'), service: skill('fiber-service') };
}

/** The session that the document's markers name, as it is before this launch overwrites them (PRM-5). */
async function previousSession(
  world: World,
  document: FiberDocument,
  run: Run,
): Promise<PreviousSession | null> {
  const runtime = document.svc?.runtime;
  if (runtime?.session_uuid === undefined) return null;
  const cut_off = !handedOff(document);
  const harness = runtime.harness ?? run.harness;
  return {
    session_uuid: runtime.session_uuid,
    harness,
    cut_off,
    transcript: cut_off ? await transcriptOf(world, document, run, runtime.session_uuid, harness) : null,
  };
}

async function transcriptOf(
  world: World,
  document: FiberDocument,
  run: Run,
  session_uuid: string,
  harness: string,
): Promise<string | null> {
  if (harness !== run.harness) return null;
  const probe = await world.harness.adapter(run.harness).findTranscript({
    agent: world.harness.agent(run.agent),
    project_dir: document.project_dir ?? run.project_dir,
    session_uuid,
    marker: '',
    launched_at: 0,
  });
  return probe.kind === 'found' ? probe.path : null;
}
