import { operatorFiles } from '../../operator-files.ts';
import { type Check, fail, ok } from './check.ts';

/** Whether each existing operator file in use is valid (OPF-4, OPF-5). */
export const checkOperatorFiles: Check = ({ settings }) => {
  const files = operatorFiles(settings);
  const errors = files.errors();
  return files.list().flatMap(({ id, path, exists }) => {
    const found = errors.find(({ file }) => file === id);
    if (found !== undefined) return [fail(`${id}.json`, found.error, `correct ${path}`)];
    return exists ? [ok(`${id}.json`, path)] : [];
  });
};
