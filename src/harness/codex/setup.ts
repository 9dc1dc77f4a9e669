import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { findExecutable } from '../../platform/find-executable.ts';
import { createRunner } from '../../platform/process.ts';
import type { SetupPlace, SetupTarget, SharedFile } from '../harness.ts';
import type { HookPlace } from '../hooks/hook-settings.ts';
import { settingsHooks } from '../hooks/settings-hooks.ts';
import { ownTable } from '../own-config.ts';
import { asTable } from '../table.ts';
import { askHookHashes, withoutTrust, withTrust } from './hook-trust.ts';

const HOOKS_FILE = 'hooks.json';
const CONFIG_FILE = 'config.toml';

const EVENTS = [
  'SessionStart',
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'PermissionRequest',
  'Stop',
  'SubagentStop',
  'SessionEnd',
];

export const hooks = settingsHooks('codex', HOOKS_FILE, EVENTS, async (folder) => {
  const file = join(folder, CONFIG_FILE);
  const features = asTable((await ownTable(file)).features);
  const off = ['hooks', 'codex_hooks'].find((name) => features[name] === false);
  return off === undefined ? null : `"${off} = false" under [features] in ${file}`;
});

/** The hooks of Codex, and the entries in its configuration that mark them as trusted. */
export async function setupTarget({ folder, env, temp, mode }: SetupPlace): Promise<SetupTarget> {
  let places: HookPlace[] = [];
  let hashes: Map<string, string> | null = null;
  const trust: SharedFile = {
    name: CONFIG_FILE,
    put: (text) =>
      withTrust(join(folder, CONFIG_FILE), text, {
        file: join(real(folder), HOOKS_FILE),
        places,
        hashes: hashes ?? new Map(),
      }),
    take: withoutTrust,
  };
  const file = hooks.file((found) => {
    places = found;
  });
  const target = { files: new Map(), shared: [file, trust], lacks: null };
  if (mode === 'uninstall') return target;
  const cli = await findExecutable('codex', env.PATH ?? '');
  if (cli !== null)
    hashes = await askHookHashes({ runner: createRunner(), env, cli, hooks: hooks.file().put(null), temp });
  if (hashes !== null) return target;
  const why =
    cli === null ? 'codex is not on the PATH' : 'this codex does not report the hashes of its hooks';
  return {
    ...target,
    shared: [],
    lacks: `the hooks were not installed, because ${why} and Codex would ask each worker about them; install a current Codex (npm install -g @openai/codex), then run this again`,
  };
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
