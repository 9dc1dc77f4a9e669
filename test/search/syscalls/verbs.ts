import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { programOf } from '../../kit/built-package.ts';
import { callerEnvironment } from '../../kit/caller-environment.ts';

const SVC = programOf('svc.cjs');
const LAUNCHER = programOf('launcher.mjs');

/** A command whose every system call is made to fail once. */
export type VerbCase = {
  name: string;
  /** Arguments after `svc`; paths are below the root. */
  argv(root: string): string[];
  kind: 'writes' | 'reads' | 'hook';
  stdin?: string;
  /** Writes over the common files before the verb runs. */
  prepare?(root: string): void;
};

const HOOK = JSON.stringify({
  session_id: 'session-1',
  hook_event_name: 'SessionStart',
  cwd: '/tmp',
  source: 'startup',
});
const install = (root: string) => ['--project-dir', join(root, 'project')];

/** Verbs that need no daemon: they read or write documents, operator files, ledgers and a program's own settings. */
export const VERBS: readonly VerbCase[] = [
  writes('fiber-add', 'fiber', 'add', 'New one', '--body', 'Its task.'),
  writes('fiber-add-child', 'fiber', 'add', 'Child', '--parent', 'work', '--body', 'Its task.'),
  writes('fiber-edit', 'fiber', 'edit', 'draft', '--outcome', 'Half done.', '--set', 'svc.effort=high'),
  writes('fiber-edit-body', 'fiber', 'edit', 'draft', '--body', long('Another body.')),
  writes('fiber-nest', 'fiber', 'nest', 'draft', '--under', 'work'),
  writes('fiber-nest-bare', 'fiber', 'nest', 'bare', '--under', 'work'),
  writes('fiber-rm', 'fiber', 'rm', 'work', '--recursive', '--yes'),
  writes('install', 'install', 'draft', (root) => install(root)),
  writes('repeat', 'repeat', 'draft', '--schedule', '0 9 * * 1-5', (root) => install(root)),
  writes('pause', 'pause', 'armed'),
  writes('close', 'close', 'armed', '--outcome', 'Not needed.'),
  writes('accept', 'accept', 'closed'),
  writes('reopen', 'reopen', 'closed'),
  writes('set-outcome', 'set-outcome', 'armed', 'A line for the card.'),
  writes('uninstall', 'uninstall', 'armed', '--yes'),
  writes('handoff', 'handoff', 'armed'),
  writes('fiber-init', 'fiber', 'init', (root) => [join(root, 'second')], '--poll'),
  writes('remotes-add', 'remotes', 'add', 'host-b', '--url', 'http://127.0.0.1:9'),
  writes('remotes-rm', 'remotes', 'rm', 'host-a', '--yes'),
  writes('agents-effort', 'agents', 'effort', 'codex', 'high'),
  writes('setup', 'setup', 'claude'),
  reads('fiber-ls', 'fiber', 'ls'),
  reads('fiber-check', 'fiber', 'check'),
  reads('fiber-show', 'fiber', 'show', 'draft'),
  reads('remotes-list', 'remotes', 'list'),
  { name: 'hook-event', kind: 'hook', stdin: HOOK, argv: () => ['hook', 'event', '--harness', 'claude'] },
  {
    name: 'hook-commit',
    kind: 'hook',
    argv: () => ['hook', 'commit'],
    prepare: (root) => {
      const git = (...args: string[]) =>
        execFileSync('git', ['-C', join(root, 'project'), ...args], { stdio: 'ignore' });
      git('init', '-q');
      git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty', '-m', 'first');
    },
  },
];

/** Settings of a machine of its own below `root`. */
export function environmentOf(root: string): NodeJS.ProcessEnv {
  return {
    ...callerEnvironment(),
    HOME: join(root, 'home'),
    XDG_CACHE_HOME: fileURLToPath(new URL('../../../.cache/e2e', import.meta.url)),
    // One thread for files, so that the calls of two runs come in the same order.
    UV_THREADPOOL_SIZE: '1',
    SVC_HOST: 'test-host',
    SVC_LISTEN: '127.0.0.1:0',
    SVC_DATA_DIR: join(root, 'data'),
    SVC_CONFIG_DIR: join(root, 'config'),
    SVC_STORES: join(root, 'store'),
    SVC_TMUX_SOCKET: join(root, 'tmux'),
  };
}

/** argv of the process that runs a verb. */
export function processOf(verb: VerbCase, root: string): string[] {
  return [process.execPath, verb.kind === 'hook' ? SVC : LAUNCHER, ...verb.argv(root)];
}

/** Writes the documents and operator files that every verb meets. */
export function prepareFiles(verb: VerbCase, root: string): void {
  const project = join(root, 'project');
  for (const folder of [project, join(root, 'home'), join(root, 'second')])
    mkdirSync(folder, { recursive: true });
  const armed = `svc:\n  kind: oneshot\n  host: test-host\n  agent: claude\n  project_dir: ${project}\n`;
  document(root, 'draft/draft.md', 1, 'status: open\n', long('See [[armed]].'));
  document(root, 'draft/part/part.md', 2, 'status: open\n', 'A part.');
  document(root, 'bare.md', 3, 'status: open # by hand\n', 'A bare one.');
  document(root, 'work/work.md', 4, 'status: open\n', 'See [[draft]], [[draft/part]] and [[bare]].');
  document(root, 'armed/armed.md', 5, `status: active\n${armed}`, 'Work.');
  document(
    root,
    'closed/closed.md',
    6,
    `status: closed\nclosed-at: 2026-01-01T00:00:00.000Z\n${armed}`,
    'Done.',
  );
  write(
    root,
    'config/remotes.json',
    `${JSON.stringify({ version: 1, remotes: [{ name: 'host-a', url: 'http://127.0.0.1:9' }], note: 'ours' })}\n`,
  );
  write(root, 'config/stores.json', `${JSON.stringify({ version: 1, stores: [join(root, 'store')] })}\n`);
  write(root, 'home/.claude/settings.json', '{"theme":"dark"}\n');
  verb.prepare?.(root);
}

function document(root: string, path: string, number: number, front: string, body: string): void {
  const ulid = `01K7${String(number).padStart(22, '0')}`;
  write(root, `store/.fibers/${path}`, `---\nid: ${ulid}\nname: "Fiber ${number}"\n${front}---\n${body}\n`);
}

function write(root: string, name: string, text: string): void {
  mkdirSync(dirname(join(root, name)), { recursive: true, mode: 0o700 });
  appendFileSync(join(root, name), text, { mode: 0o600 });
}

/** Longer than what else a verb writes, so that a limit on file sizes cuts this. */
function long(text: string): string {
  return `${text}\n${'More of the same.\n'.repeat(300)}`;
}

type Word = string | ((root: string) => string[]);

function writes(name: string, ...words: Word[]): VerbCase {
  return { name, kind: 'writes', argv: (root) => expand(words, root) };
}

function reads(name: string, ...words: Word[]): VerbCase {
  return { name, kind: 'reads', argv: (root) => expand(words, root) };
}

function expand(words: readonly Word[], root: string): string[] {
  return words.flatMap((word) => (typeof word === 'string' ? [word] : word(root)));
}
