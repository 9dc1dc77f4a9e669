import { agentsFileSchema } from '../../contract/agent.ts';
import { hostFileSchema, projectsFileSchema, storesFileSchema } from '../../contract/operator-files.ts';
import { type Check, fail, ok } from './check.ts';
import { operatorFilePath, readOperatorFile } from './operator-file.ts';

const SCHEMAS = {
  stores: storesFileSchema,
  projects: projectsFileSchema,
  host: hostFileSchema,
  agents: agentsFileSchema,
} as const;

/** Whether each operator file that is there says something valid. */
export const checkOperatorFiles: Check = ({ settings }) =>
  (Object.keys(SCHEMAS) as (keyof typeof SCHEMAS)[]).flatMap((name) => {
    const path = operatorFilePath(settings, name);
    const file = readOperatorFile(path, SCHEMAS[name]);
    if (file.kind === 'absent') return [];
    return file.kind === 'valid'
      ? [ok(`${name}.json`, path)]
      : [fail(`${name}.json`, `${path} is not valid: ${file.detail}`, `correct ${path}`)];
  });
