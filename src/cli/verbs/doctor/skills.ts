import { compareHooks } from '../../../harness/hooks/installed-hooks.ts';
import { hookSkew, skillSkew } from '../../../harness/hooks/skew.ts';
import { compareSkills } from '../../../harness/hooks/worker-skills.ts';
import { type Check, ok, warn } from './check.ts';

/** Whether the worker skills in each agent program's folder are those of this package (VER-3). */
export const checkSkills: Check = async ({ env }) => {
  const { generation, installed } = await compareSkills(env);
  const there = installed.filter(({ state }) => state !== 'absent');
  if (there.length === 0)
    return [ok('worker skills', 'not set up for any agent program; a worker reads them from the package')];
  return there.map((each) => {
    const name = `worker skills of ${each.harness}`;
    const skew = skillSkew(each, generation);
    return skew === null
      ? ok(name, `generation ${generation}`)
      : warn(name, skew.what, `bring them up to date with: ${skew.mend}`);
  });
};

/** Whether the hooks in each agent program's folder run this svc. */
export const checkHooks: Check = async ({ env }) =>
  (await compareHooks(env))
    .filter(({ state }) => state !== 'absent')
    .map((each) => {
      const name = `hooks of ${each.harness}`;
      const skew = hookSkew(each);
      if (skew === null) return ok(name, 'they run this svc');
      return warn(name, skew.what, each.state === 'off' ? skew.mend : `run: ${skew.mend}`);
    });
