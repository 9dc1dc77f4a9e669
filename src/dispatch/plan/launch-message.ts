import { join } from 'node:path';
import type { FiberDocument } from '../../contract/fiber.ts';
import type { Run } from '../run/run.ts';
import type { Authority } from '../run/run-id.ts';
import type { World } from '../world/world.ts';
import type { Conversation } from './conversation.ts';
import { buildPrompt, type WorkerSkills } from './prompt.ts';

/** The launch message of one run of a fiber (PRM-1 to PRM-7). */
export function launchMessage(
  world: Pick<World, 'skillsDir'>,
  document: FiberDocument,
  planned: { run: Run; conversation: Conversation; role_store: string | null },
  authority: Authority,
): string {
  const { run, conversation, role_store } = planned;
  const kind = document.svc?.kind ?? 'oneshot';
  const scheduled = authority.kind === 'poll' && authority.occurrence !== null;
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
    standing_mode: kind !== 'standing' ? null : scheduled ? 'scheduled' : 'ad-hoc',
    resumed: conversation.kind === 'resume',
    previous: conversation.kind === 'resume' ? null : conversation.previous,
    collaboration:
      document.collaboration === undefined ? null : { roster: document.collaboration, role_store },
    user_message: authority.user_message ?? null,
  });
}

/** The two skills, and where a worker that has not installed them can read them (PRM-8). */
export function workerSkills(folder: string): WorkerSkills {
  const skill = (name: string) => ({ name, path: join(folder, name, 'SKILL.md') });
  return { store: skill('fiber-store'), service: skill('fiber-service') };
}

/** Where a worker that turns a text into a fiber reads how to. */
export function captureReference(folder: string): string {
  return join(folder, 'fiber-service', 'references', 'capture.md');
}
