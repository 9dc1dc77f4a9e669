import type { HarnessName } from '../../../contract/harness-name.ts';
import type { SetupPlace, SetupTarget } from '../../../harness/harness.ts';
import { HARNESSES, harnessFolder } from '../../../harness/harnesses.ts';
import { packageSkills, readSkillFiles } from '../../../harness/hooks/worker-skills.ts';

/** The setup target of one harness, with everything that a setup installs. */
export async function setupTarget(
  name: HarnessName,
  place: Omit<SetupPlace, 'folder'>,
): Promise<SetupTarget & { home: string }> {
  const home = harnessFolder({ harness: name, env: {} }, place.env);
  const { setup } = HARNESSES[name];
  const { files = new Map(), shared = [], lacks = null } = await setup.target({ ...place, folder: home });
  const skills = [...readSkillFiles(packageSkills())].map(
    ([path, text]) => [`skills/${path}`, text] as const,
  );
  return { home, files: new Map([...skills, ...files]), shared, lacks };
}
