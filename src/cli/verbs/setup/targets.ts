import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { HarnessName } from '../../../contract/harness-name.ts';
import { HOOK_EVENTS, hookArgv, hookCommand } from '../../../harness/hooks/hook-command.ts';
import { harnessHome, packageSkills, readSkillFiles } from '../../../harness/hooks/worker-skills.ts';
import { PI_EXTENSION, piExtension } from '../../../harness/pi/extension.ts';
import { findExecutable } from '../../../platform/find-executable.ts';
import { createRunner } from '../../../platform/process.ts';
import { askHookHashes, withoutTrust, withTrust } from './codex-trust.ts';
import { type HookPlace, withHooks, withoutHooks } from './hook-settings.ts';
import type { SharedFile } from './plan.ts';

/** What goes into one harness's home. */
export type Target = {
  home: string;
  files: Map<string, string>;
  shared: SharedFile[];
  /** What could not be set up, as a sentence that names the mend. */
  lacks: string | null;
};

/** The places of one harness, with everything that a setup puts there. */
export async function setupTarget(
  name: HarnessName,
  env: NodeJS.ProcessEnv,
  temp: string,
  mode: 'install' | 'uninstall',
): Promise<Target> {
  const home = harnessHome(name, env);
  const skills = [...readSkillFiles(packageSkills())];
  const files = new Map(skills.map(([path, text]) => [`skills/${path}`, text]));
  if (name === 'pi') {
    files.set(`extensions/${PI_EXTENSION}`, piExtension(hookArgv('pi')));
    return { home, files, shared: [], lacks: null };
  }
  if (name === 'claude') return { home, files, shared: [hooksFile('settings.json', 'claude')], lacks: null };
  return codexTarget(home, files, env, temp, mode);
}

async function codexTarget(
  home: string,
  files: Map<string, string>,
  env: NodeJS.ProcessEnv,
  temp: string,
  mode: 'install' | 'uninstall',
): Promise<Target> {
  let places: HookPlace[] = [];
  let hashes: Map<string, string> | null = null;
  const hooks = hooksFile('hooks.json', 'codex', (found) => {
    places = found;
  });
  const trust: SharedFile = {
    name: 'config.toml',
    put: (text) =>
      withTrust(join(home, 'config.toml'), text, {
        file: join(real(home), 'hooks.json'),
        places,
        hashes: hashes ?? new Map(),
      }),
    take: withoutTrust,
  };
  const target = { home, files, shared: [hooks, trust], lacks: null };
  if (mode === 'uninstall') return target;
  const cli = findExecutable('codex', env.PATH ?? '');
  if (cli !== null) {
    const alone = withHooks('hooks.json', null, HOOK_EVENTS.codex, hookCommand('codex')).text;
    hashes = await askHookHashes({ runner: createRunner(), env, cli, hooks: alone, temp });
  }
  if (hashes !== null) return target;
  const why = cli === null ? 'codex is not on the PATH' : 'this codex does not tell the hashes of its hooks';
  return {
    ...target,
    shared: [],
    lacks: `the hooks were left out, because ${why} and a worker would be asked about each; install a current Codex (npm install -g @openai/codex), then run this again`,
  };
}

function hooksFile(
  name: string,
  harness: 'claude' | 'codex',
  onPlaces: (places: HookPlace[]) => void = () => {},
): SharedFile {
  return {
    name,
    put(text) {
      const done = withHooks(name, text, HOOK_EVENTS[harness], hookCommand(harness));
      onPlaces(done.places);
      return done.text;
    },
    take: (text) => withoutHooks(name, text),
  };
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
