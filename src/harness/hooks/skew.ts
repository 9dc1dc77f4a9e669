import type { Skew } from '../../contract/http/version.ts';
import { compareHooks, type InstalledHooks } from './installed-hooks.ts';
import { compareSkills, type SkillState } from './worker-skills.ts';

/** What is installed in the agent programs' folders but does not match this package (VER-3). */
export async function installedSkew(env: NodeJS.ProcessEnv): Promise<Skew[]> {
  const { generation, installed } = await compareSkills(env);
  const skills = installed.map((each) => skillSkew(each, generation));
  const hooks = (await compareHooks(env)).map(hookSkew);
  return [...skills, ...hooks].filter((skew) => skew !== null);
}

/** Null if the skills match this package or are not installed; launches then read them from the package. */
export function skillSkew(
  { harness, state, generation: theirs }: SkillState,
  generation: string,
): Skew | null {
  if (state !== 'skewed') return null;
  const what = `its worker skills are generation ${theirs}, but the launch messages need generation ${generation}`;
  return { of: 'skills', where: harness, what, mend: `svc setup ${harness}` };
}

/** Null if the hooks are current or not installed. */
export function hookSkew({ harness, state, program, off_by }: InstalledHooks): Skew | null {
  const mend = `svc setup ${harness}`;
  switch (state) {
    case 'gone':
      return { of: 'hooks', where: harness, what: `its hooks run ${program}, which does not exist`, mend };
    case 'elsewhere': {
      const what = `its hooks run another installation of svc: ${program}`;
      return { of: 'hooks', where: harness, what, mend };
    }
    case 'off':
      return {
        of: 'hooks',
        where: harness,
        what: `its hooks are switched off by ${off_by}`,
        mend: 'take that out',
      };
    case 'outdated':
      return { of: 'hooks', where: harness, what: 'another version of svc wrote its hooks', mend };
    default:
      return null;
  }
}
