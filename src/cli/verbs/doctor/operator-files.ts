import { ownEntryFault, readRemotes } from '../../../config/remotes.ts';
import { operatorFiles } from '../../operator-files.ts';
import { type Check, fail, ok, warn } from './check.ts';
import { hostOf } from './host.ts';

/** Whether each existing operator file in use is valid (OPF-4, OPF-5). */
export const checkOperatorFiles: Check = ({ settings }) => {
  const files = operatorFiles(settings);
  const errors = files.errors();
  return files.list().flatMap(({ id, path, exists }) => {
    const found = errors.find(({ file }) => file === id);
    if (found !== undefined) return [fail(`${id}.json`, found.error, `correct ${path}`)];
    if (!exists) return [];
    const own =
      id === 'remotes' ? ownEntryFault(settings, readRemotes(settings).remotes, hostOf(settings)) : null;
    return [own === null ? ok(`${id}.json`, path) : warn(`${id}.json`, own.what, own.mend)];
  });
};
