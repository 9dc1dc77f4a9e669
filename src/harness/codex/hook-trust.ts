import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'smol-toml';
import { CodedError } from '../../base/errors.ts';
import { makeFolder } from '../../platform/make-folder.ts';
import type { ProcessRunner } from '../../platform/process.ts';
import type { HookPlace } from '../hooks/hook-settings.ts';

const BEGIN = '# fiber-dispatch: begin (made by `svc setup codex`)';
const END = '# fiber-dispatch: end';
const ANSWER_MS = 20_000;

/**
 * The hash by which Codex identifies each hook, by event. Codex asks a person about a hook with an unknown hash, which
 * would block a worker. We read the hashes from Codex itself, run in a temporary home; marking them as trusted is
 * justified because the person who runs the setup installs these hooks. Null if this Codex does not report them.
 */
export async function askHookHashes(options: {
  runner: ProcessRunner;
  env: NodeJS.ProcessEnv;
  cli: string;
  /** Text of a `hooks.json` that contains only our hooks. */
  hooks: string;
  /** Folder for the temporary home. */
  temp: string;
}): Promise<Map<string, string> | null> {
  const { runner, env, cli, hooks, temp } = options;
  makeFolder(temp);
  const home = realpathSync(mkdtempSync(join(temp, 'codex-setup-')));
  try {
    writeFileSync(join(home, 'hooks.json'), hooks);
    return await listHashes(runner, { ...env, CODEX_HOME: home }, cli, home);
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

function listHashes(
  runner: ProcessRunner,
  env: NodeJS.ProcessEnv,
  cli: string,
  cwd: string,
): Promise<Map<string, string> | null> {
  const child = runner.spawnPiped({ file: cli, args: ['app-server'], cwd, env });
  const gone = new Promise<void>((resolve) => child.onExit(() => resolve()));
  const asked = new Promise<Map<string, string> | null>((resolve) => {
    const limit = setTimeout(() => resolve(null), ANSWER_MS);
    void gone.then(() => {
      clearTimeout(limit);
      resolve(null);
    });
    let text = '';
    child.onStdout((chunk) => {
      text += Buffer.from(chunk).toString('utf8');
      const lines = text.split('\n');
      text = lines.pop() ?? '';
      const answer = lines.map(hashesIn).find((found) => found !== undefined);
      if (answer === undefined) return;
      clearTimeout(limit);
      resolve(answer);
    });
    const clientInfo = { name: 'svc', title: 'svc setup', version: '1' };
    const calls = [
      { id: 1, method: 'initialize', params: { clientInfo, capabilities: { experimentalApi: true } } },
      { method: 'initialized' },
      { id: 2, method: 'hooks/list', params: { cwds: [cwd] } },
    ];
    child.write(calls.map((call) => `${JSON.stringify(call)}\n`).join(''));
  });
  return asked.finally(async () => {
    child.end();
    child.kill();
    await gone;
  });
}

/** The answer to `hooks/list` in one line; undefined for any other line, null for an error. */
function hashesIn(line: string): Map<string, string> | null | undefined {
  try {
    const message = JSON.parse(line) as { id?: number; result?: { data?: { hooks?: unknown[] }[] } };
    if (message.id !== 2) return undefined;
    const hashes = new Map<string, string>();
    for (const hook of message.result?.data?.[0]?.hooks ?? []) {
      const { eventName, currentHash } = hook as { eventName?: string; currentHash?: string };
      if (typeof eventName === 'string' && typeof currentHash === 'string')
        hashes.set(eventName, currentHash);
    }
    return hashes.size === 0 ? null : hashes;
  } catch {
    return undefined;
  }
}

/**
 * `config.toml` with our hooks marked as trusted; throws `invalid_config` if it is not valid TOML or cannot be
 * extended.
 */
export function withTrust(
  path: string,
  text: string | null,
  hooks: { file: string; places: readonly HookPlace[]; hashes: ReadonlyMap<string, string> },
): string {
  const before = withoutTrust(text ?? '');
  const tables = hooks.places.flatMap(({ event, group }) => {
    const hash = hooks.hashes.get(`${event[0]?.toLowerCase()}${event.slice(1)}`);
    if (hash === undefined) return [];
    const key = `${hooks.file}:${event.replace(/(?<!^)[A-Z]/g, '_$&').toLowerCase()}:${group}:0`;
    return [`[hooks.state.${JSON.stringify(key)}]`, `trusted_hash = ${JSON.stringify(hash)}`];
  });
  const gap = before === '' || before.endsWith('\n') ? '' : '\n';
  const after = `${before}${gap}${[BEGIN, ...tables, END].join('\n')}\n`;
  for (const each of [before, after]) {
    try {
      parse(each);
    } catch (error) {
      const why = error instanceof Error ? error.message.split('\n')[0] : 'it is not TOML';
      throw new CodedError(
        'invalid_config',
        `${path} was not changed: ${why}; correct it, then run this again`,
        {
          details: { path },
        },
      );
    }
  }
  return after;
}

/** `config.toml` without our section. */
export function withoutTrust(text: string): string {
  const begin = text.indexOf(BEGIN);
  const end = text.indexOf(END, begin);
  if (begin === -1 || end === -1) return text;
  return text.slice(0, begin) + text.slice(end + END.length).replace(/^\n/, '');
}
