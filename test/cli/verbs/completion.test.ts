import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fiberWords } from '../../../src/cli/verbs/completion/fibers.ts';
import { createMachine, type Machine } from '../kit.ts';

const LAUNCHER = new URL('../../../src/cli/launcher.mjs', import.meta.url).pathname;
const installed = (program: string) => spawnSync(program, ['--version']).error === undefined;

let machine: Machine;
let store: string;
const scripts: Record<string, string> = {};

beforeAll(async () => {
  machine = createMachine();
  store = join(machine.folder, 'notes');
  for (const id of ['say-hello', 'work/loader', 'work/writer', 'home/writer']) {
    const folder = join(store, '.fibers', id);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${id.split('/').at(-1)}.md`), '---\nname: x\n---\n');
    writeFileSync(join(folder, 'companion.md'), 'text\n');
  }
  machine.env.SVC_STORES = store;
  const bin = join(machine.folder, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'svc'), `#!/bin/sh\nexec "${process.execPath}" "${LAUNCHER}" "$@"\n`);
  chmodSync(join(bin, 'svc'), 0o755);
  machine.env.PATH = `${bin}:${machine.env.PATH}`;
  for (const shell of ['bash', 'zsh', 'fish']) {
    scripts[shell] = join(machine.folder, `svc.${shell}`);
    writeFileSync(scripts[shell], (await machine.svc('completion', shell)).out);
  }
});
afterAll(() => machine.remove());

/** What a real bash offers for a command line whose last word is being typed. */
function inBash(...words: string[]): string[] {
  const code = `
    source "$1"; shift
    COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 ))
    _svc
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  const text = execFileSync('bash', ['--norc', '-c', code, 'bash', scripts.bash!, 'svc', ...words], {
    env: machine.env,
    cwd: machine.folder,
    encoding: 'utf8',
  });
  return text.split('\n').filter((line) => line !== '');
}

describe('completion in a real bash', () => {
  it.each([
    [['inst'], ['install']],
    [['help', 'handof'], ['handoff']],
    [
      ['daemon', 'sta'],
      ['start', 'status'],
    ],
    [['daemon', 'logs', '--fol'], ['--follow']],
    [['install', '--project'], ['--project-dir']],
    [['fiber', 'edit', 'say-hello', '--status', 'a'], ['active']],
    [['install', 'say-hello', '--project-dir', 'no'], ['notes']],
    [['demo', 'stat'], ['status']],
    [['completion', 'f'], ['fish']],
  ])('completes %j', (words, offered) => {
    expect(inBash(...words)).toEqual(offered);
  });

  it('offers fibers of the stores, by id and by a unique leaf', () => {
    expect(inBash('install', 'work/')).toEqual(['work/loader', 'work/writer']);
    expect(inBash('kill', 'load')).toEqual(['loader']);
    expect(inBash('install', '--agent', 'pi', 'say')).toEqual(['say-hello']);
  });

  it('offers the agents of the registry', () => {
    expect(inBash('install', 'say-hello', '--agent', 'claude-s')).toContain('claude-sonnet');
  });

  it('prints nothing on any stream if the names are unknown', async () => {
    const lost = createMachine();
    lost.env.SVC_POLL_INTERVAL_MS = 'soon';
    expect(await lost.svc('completion', 'fibers')).toEqual({ code: 0, out: '', err: '' });
    expect(await lost.svc('completion', 'agents')).toEqual({ code: 0, out: '', err: '' });
    lost.remove();
  });

  it('finds ids by folder names and skips companions and folders it cannot read', () => {
    expect(fiberWords([store, join(store, 'nowhere')], '')).toEqual([
      'home/writer',
      'say-hello',
      'work/loader',
      'work/writer',
    ]);
    expect(fiberWords([store], 'writ')).toEqual([]);
  });
});

describe('completion in other shells', () => {
  it.skipIf(!installed('zsh'))('loads in zsh (skipped where zsh is not installed)', () => {
    const code = 'autoload -U compinit && compinit -u; source "$1"; print -r -- $_comps[svc]';
    const out = execFileSync('zsh', ['-f', '-c', code, 'zsh', scripts.zsh!], {
      env: machine.env,
      encoding: 'utf8',
    });
    expect(out).toContain('_svc');
  });

  it.skipIf(!installed('fish'))('offers verbs in fish (skipped where fish is not installed)', () => {
    const code = `source '${scripts.fish}'; complete -C 'svc inst'`;
    const out = execFileSync('fish', ['--no-config', '-c', code], { env: machine.env, encoding: 'utf8' });
    expect(out).toContain('install');
  });
});
