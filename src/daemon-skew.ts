import type { Skew } from './contract/http/version.ts';
import { CONTRACT_LEVEL } from './contract/level.ts';
import { launchMessageDigest } from './dispatch/plan/launch-message-digest.ts';
import { installedSkew } from './harness/hooks/skew.ts';
import {
  namedPromptDigest,
  packageSkills,
  readSkillFiles,
  skillGeneration,
} from './harness/hooks/worker-skills.ts';

/** The generation of this package, and everything found at boot that does not go with it (VER-3). */
export async function findSkew(options: {
  env: NodeJS.ProcessEnv;
  /** The program of `SVC_CLI` with the contract level that it tells; null without one. */
  cli: { file: string; contract: number | null } | null;
  /** Folder of the skills that launch messages name. */
  skills?: string;
}): Promise<{ generation: string; skew: Skew[] }> {
  const { env, cli } = options;
  const files = await readSkillFiles(options.skills ?? packageSkills());
  const skew = await installedSkew(env);
  const [said, written] = [launchMessageDigest(), namedPromptDigest(files)];
  if (said !== written)
    skew.push({
      of: 'prompt',
      where: null,
      what: `the launch messages are ${said}, and the worker skills of the package were written for ${written ?? 'none'}`,
      mend: 'install the whole package again: npm install -g fiber-dispatch',
    });
  if (cli !== null && cli.contract !== CONTRACT_LEVEL)
    skew.push({
      of: 'cli',
      where: cli.file,
      what: `it speaks contract level ${cli.contract ?? 'none'}, and the daemon ${CONTRACT_LEVEL}`,
      mend: 'install the svc of this version there, or unset SVC_CLI, and run: svc daemon restart',
    });
  return { generation: skillGeneration(files), skew };
}
