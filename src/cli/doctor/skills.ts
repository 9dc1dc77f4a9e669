import { compareSkills } from '../../harness/worker-skills.ts';
import { type Check, ok, warn } from './check.ts';

/** Whether the worker skills in each agent program's own place are those of this package (VER-3). */
export const checkSkills: Check = ({ env }) => {
  const { generation, installed } = compareSkills(env);
  const there = installed.filter(({ state }) => state !== 'absent');
  if (there.length === 0)
    return [ok('worker skills', 'not set up for any agent program; a worker reads them from the package')];
  return there.map(({ harness, state, generation: theirs }) =>
    state === 'current'
      ? ok(`worker skills of ${harness}`, `generation ${generation}`)
      : warn(
          `worker skills of ${harness}`,
          `they are generation ${theirs}, and the launch messages go with ${generation}`,
          `bring them up to date with: svc setup ${harness}`,
        ),
  );
};
