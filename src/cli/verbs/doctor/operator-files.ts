import { existsSync } from 'node:fs';
import { isCoded } from '../../../base/errors.ts';
import { readHostFile } from '../../../config/host-file.ts';
import { readOperatorText } from '../../../config/operator-text.ts';
import { parsePathList } from '../../../config/path-lists.ts';
import { operatorFilePaths } from '../../../config/paths.ts';
import { readRemotes } from '../../../config/remotes.ts';
import type { Settings } from '../../../config/settings.ts';
import type { OperatorFileId } from '../../../contract/operator-files.ts';
import { loadRegistry } from '../../../harness/agents/registry.ts';
import { type Check, fail, ok } from './check.ts';

/** Reads each file as the daemon would, even if a variable overrides it; throws `invalid_config`. */
const READERS: Record<OperatorFileId, (settings: Settings, path: string) => void> = {
  stores: (_settings, path) => void parsePathList('stores', path, readOperatorText(path) ?? '[]'),
  projects: (_settings, path) => void parsePathList('projects', path, readOperatorText(path) ?? '[]'),
  host: (settings) => void readHostFile(settings),
  remotes: (settings) => void readRemotes(settings),
  agents(settings) {
    const { problem } = loadRegistry(settings);
    if (problem !== null) throw problem;
  },
};

/** Whether each existing operator file is valid (OPF-4, OPF-5). */
export const checkOperatorFiles: Check = ({ settings }) => {
  const paths = operatorFilePaths(settings);
  return (Object.keys(READERS) as (keyof typeof READERS)[]).flatMap((name) => {
    const path = paths[name];
    try {
      READERS[name](settings, path);
      return existsSync(path) ? [ok(`${name}.json`, path)] : [];
    } catch (error) {
      if (!isCoded(error, 'invalid_config')) throw error;
      return [fail(`${name}.json`, error.message, `correct ${path}`)];
    }
  });
};
