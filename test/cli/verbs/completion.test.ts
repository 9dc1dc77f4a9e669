import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { fiberWords } from '../../../src/cli/verbs/completion/fibers.ts';
import { createPrivateServer } from '../../fixtures/mux/private-server.ts';
import { isInstalled } from '../../kit/installed.ts';
import { shellcheck } from '../../kit/shellcheck.ts';
import { until } from '../../kit/until.ts';
import { createMachine, type Machine } from '../kit.ts';

const LAUNCHER = new URL('../../../src/cli/launcher.mjs', import.meta.url).pathname;

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

/** What is offered for a command line whose last word is being typed. */
const OFFERED: [line: string, offered: string[]][] = [
  ['inst', ['install']],
  ['help handof', ['handoff']],
  ['daemon sta', ['start', 'status']],
  ['daemon logs --fol', ['--follow']],
  ['install --project', ['--project-dir']],
  ['fiber edit say-hello --status a', ['active']],
  ['kill load', ['loader']],
  ['install --agent pi say', ['say-hello']],
  ['install say-hello --agent claude-son', ['claude-sonnet']],
  ['agents effort claude-son', ['claude-sonnet']],
  ['demo stat', ['status']],
  ['demo fiber ed', ['edit']],
  ['completion f', ['fish']],
  ['kill --nothing', []],
];

describe('completion in a real bash', () => {
  it.each(OFFERED)('completes: svc %s', (line, offered) => {
    expect(inBash(...line.split(' '))).toEqual(offered);
  });

  it.skipIf(!isInstalled('shellcheck'))(
    'reads a script that shellcheck has nothing to say about (skipped where shellcheck is not installed)',
    () => expect(shellcheck(scripts.bash!)).toBe(''),
  );

  it('completes folders', () => {
    expect(inBash('install', 'say-hello', '--project-dir', 'no')).toEqual(['notes']);
  });

  it('completes folders below the home, and those with a blank in their name', () => {
    mkdirSync(join(machine.folder, 'two words'), { recursive: true });
    mkdirSync(join(machine.env.HOME!, 'my-project'), { recursive: true });
    expect(inBash('install', 'say-hello', '--project-dir', 'two\\ w')).toEqual(['two\\ words']);
    expect(inBash('install', 'say-hello', '--project-dir', '~/my-p')).toEqual(['~/my-project']);
  });

  it('takes the name of a folder in a store as text and never as code', () => {
    const hostile = join(machine.folder, 'hostile');
    for (const id of ['x$(touch RAN)', 'x`touch RAN`', "x it's"]) {
      mkdirSync(join(hostile, '.fibers', id), { recursive: true });
      writeFileSync(join(hostile, '.fibers', id, `${id}.md`), '---\nname: x\n---\n');
    }
    machine.env.SVC_STORES = hostile;
    onTestFinished(() => {
      machine.env.SVC_STORES = store;
    });
    const offered = inBash('status', 'x');
    expect(readdirSync(machine.folder)).not.toContain('RAN');
    const words = execFileSync('bash', ['-c', `printf '%s\\n' ${offered.join(' ')}`], { encoding: 'utf8' });
    expect(words.trim().split('\n')).toEqual(["x it's", 'x$(touch RAN)', 'x`touch RAN`']);
  });

  it('offers fibers of the stores, by id and by a unique leaf', () => {
    expect(inBash('install', 'work/')).toEqual(['work/loader', 'work/writer']);
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

describe.skipIf(!isInstalled('fish'))(
  'completion in a real fish (skipped where fish is not installed)',
  () => {
    const inFish = (line: string) => {
      const code = 'source $argv[1]; complete -C "svc $argv[2]"';
      const text = execFileSync('fish', ['--no-config', '-c', code, scripts.fish!, line], {
        env: machine.env,
        cwd: machine.folder,
        encoding: 'utf8',
      });
      return text.split('\n').flatMap((offered) => (offered === '' ? [] : [offered.split('\t')[0]]));
    };

    it.each(OFFERED)('completes: svc %s', (line, offered) => {
      expect(inFish(line)).toEqual(offered);
    });

    it('completes folders and fibers, each only where one is meant', () => {
      expect(inFish('install say-hello --project-dir no')).toEqual(['notes/']);
      expect(inFish('install work/')).toEqual(['work/loader', 'work/writer']);
      expect(inFish('install work/loader ')).toEqual([]);
    });
  },
);

describe.skipIf(!isInstalled('zsh'))('completion in a real zsh (skipped where zsh is not installed)', () => {
  it('completes what is typed in a terminal', async () => {
    const server = createPrivateServer();
    onTestFinished(() => server.dispose());
    const { tmux } = server;
    const screen = () => tmux('capture-pane', '-p', '-t', 'z');
    const type = async (text: string, ...keys: string[]) => {
      await tmux('send-keys', '-t', 'z', 'C-u', 'C-l');
      await tmux('send-keys', '-t', 'z', '-l', text);
      await tmux('send-keys', '-t', 'z', ...keys);
    };
    // By `env`, and not by tmux: tmux gives a session the PATH of its client, whatever -e says.
    const env = ['PATH', 'HOME', 'SVC_STORES'].map((name) => `${name}=${machine.env[name]}`);
    const size = ['-x', '120', '-y', '20'];
    await tmux('new-session', '-d', '-s', 'z', '-c', machine.folder, ...size, 'env', ...env, 'zsh', '-f');
    await type(
      `PS1='$ '; autoload -U compinit; compinit -u -D; source ${scripts.zsh}; echo rea''dy`,
      'Enter',
    );
    await until('the prompt of zsh', async () => /^ready\n\$/m.test(await screen()));
    for (const [line, offered] of OFFERED) {
      const [first = ''] = offered;
      const typed = line.split(' ').slice(0, -1).join(' ');
      await type(`svc ${line}`, 'Tab');
      if (offered.length > 1)
        await until(`all words for ${line}`, async () =>
          new RegExp(`\n${offered.join(' +')} *$`, 'm').test(await screen()),
        );
      else if (offered.length === 1)
        await until(`${first} for ${line}`, async () =>
          (await screen()).startsWith(['$ svc', typed, `${first}`].filter((word) => word !== '').join(' ')),
        );
    }
    mkdirSync(join(machine.env.HOME!, 'far-project'), { recursive: true });
    await type('svc install say-hello --project-dir ~/far-', 'Tab');
    await until('a folder below the home', async () =>
      (await screen()).includes('--project-dir ~/far-project'),
    );
  });
});
