import { execFileSync, spawn } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { HookSpool } from '../../../src/dispatch/run-directory/hook-spool.ts';
import { hookScript } from '../../../src/harness/hooks/hook-command.ts';
import { ROTATE_BYTES } from '../../../src/ledgers/append-line.ts';
import { createRunner } from '../../../src/platform/process.ts';
import { until } from '../../kit/until.ts';
import COMMIT_LINES from './commit-lines.json' with { type: 'json' };
import HOOK_LINES from './hook-lines.json' with { type: 'json' };

let dir: string;
let started: HookSpool[] = [];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-spool-'));
});
afterEach(async () => {
  for (const one of started) await one.stop();
  started = [];
  rmSync(dir, { recursive: true, force: true });
});

const data = () => join(dir, 'data');
const folder = () => join(data(), 'hook-spool');
const run = () => join(data(), 'runs', 'launch-1');
const waiting = () => readdirSync(folder()).filter((name) => name !== 'dropped');

function spool(more: { events_file?: string; now?: () => number } = {}) {
  const logged: string[] = [];
  const log = (_facts: object, text: string) => void logged.push(text);
  const one = new HookSpool({
    data_dir: data(),
    host: 'host-a',
    events_file: more.events_file ?? join(data(), 'events.jsonl'),
    commits_file: join(data(), 'commits.jsonl'),
    runner: createRunner(),
    clock: { ...systemClock, now: more.now ?? systemClock.now },
    logger: { warn: log, error: log, info: log } as never,
  });
  started.push(one);
  return Object.assign(one, { logged });
}

function makeRun(
  manifest: object = { mux_session: 'loader-01K-svc', session_uuid: 's-0', state: 'spawned' },
): void {
  mkdirSync(run(), { recursive: true });
  writeFileSync(join(run(), 'run.json'), JSON.stringify(manifest));
}

/** Runs the script of a hook as an agent program does. */
function hook(input: object | string, more: NodeJS.ProcessEnv = {}, harness = 'claude'): void {
  execFileSync('/bin/sh', [hookScript(), harness], {
    input: typeof input === 'string' ? input : JSON.stringify(input),
    env: { HOME: dir, PATH: process.env.PATH, SVC_DATA_DIR: data(), SVC_RUN_DIR: run(), ...more },
  });
}

const text = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8') : '');
const events = () =>
  text(join(data(), 'events.jsonl'))
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
const sessions = () => events().map(({ sessionId }) => sessionId);
const stop = (session_id: string, more: object = {}) => ({ session_id, hook_event_name: 'Stop', ...more });
const hidden = (lines: string) =>
  lines
    .replace(/^\{"id":"[0-9a-f-]{36}","timestamp":\d+/gm, '{"id":"<id>","timestamp":<at>')
    .replace(/^\{"at":\d+/gm, '{"at":<at>');

describe('what hooks left', () => {
  it.each(HOOK_LINES.map((one) => [one.harness, one.input.hook_event_name, one] as const))(
    '[EVT-4] [EVT-7] [P7] [P10] [P16] becomes the lines that a hook of its own process wrote: %s %s',
    (harness, _name, { input, lines }) => {
      makeRun();
      hook(input, {}, harness);
      spool().take();
      const files = { events: join(data(), 'events.jsonl') };
      for (const name of ['sessions', 'phases', 'usage-limits'])
        Object.assign(files, { [name]: join(run(), `${name}.jsonl`) });
      const written = Object.entries(files).flatMap(([name, path]) => {
        const all = hidden(text(path));
        return all === '' ? [] : [[name, all]];
      });
      expect(Object.fromEntries(written)).toEqual(lines);
      expect(waiting()).toEqual([]);
    },
  );

  it('has the time at which the hook ended, or that the program tells, and files of the owner alone', () => {
    makeRun();
    const before = Date.now();
    for (const told_at of [before - 5_000, before - 3_600_000, before + 3_600_000, 'soon', undefined])
      hook(stop('s-1', { told_at }));
    expect(statSync(folder()).mode & 0o777).toBe(0o700);
    for (const name of waiting()) expect(statSync(join(folder(), name)).mode & 0o777).toBe(0o600);
    spool().take();
    const at = events().map(({ timestamp }) => timestamp);
    expect(at[0]).toBe(before - 5_000);
    // The clock of a file system may lag by some milliseconds.
    for (const one of at.slice(1)) expect(one).toBeGreaterThanOrEqual(before - 20);
    for (const one of at.slice(1)) expect(one).toBeLessThanOrEqual(Date.now());
    expect(statSync(join(run(), 'phases.jsonl')).mode & 0o777).toBe(0o600);
  });

  it('[WPL-5] [P16] belongs to the run of a claimed session by its pane, until that run has ended', () => {
    makeRun({ mux_session: 'desk', state: 'spawned' });
    mkdirSync(join(data(), 'claimed'), { recursive: true });
    writeFileSync(join(data(), 'claimed', '4711-12'), 'launch-1\n');
    const one = spool();
    const tell = (TMUX_PANE: string) => {
      hook(stop('s-1', { last_assistant_message: 'Done.' }), {
        SVC_RUN_DIR: '',
        TMUX: '/tmp/tmux-0/a,b,4711,3',
        TMUX_PANE,
      });
      one.take();
    };
    for (const pane of ['%12', '%13', '%../../runs', '']) tell(pane);
    makeRun({ mux_session: 'desk', state: 'ended' });
    tell('%12');
    expect(text(join(run(), 'phases.jsonl')).split('\n')).toHaveLength(2);
    expect(events().map(({ tmuxSession }) => tmuxSession)).toEqual(['desk', null, null, null, null]);
  });

  it('writes into no folder but those of the daemon’s runs, whatever a hook names', () => {
    makeRun();
    const other = join(dir, 'other', 'launch-1');
    mkdirSync(other, { recursive: true });
    for (const SVC_RUN_DIR of [
      other,
      join(data(), 'runs', 'gone'),
      join(data(), 'runs'),
      `${run()}/../launch-1`,
      'launch-1',
    ])
      hook(stop('s-1'), { SVC_RUN_DIR });
    const one = spool();
    one.take();
    expect(readdirSync(other)).toEqual([]);
    expect(readdirSync(join(data(), 'runs'))).toEqual(['launch-1']);
    expect(text(join(run(), 'phases.jsonl'))).toBe('');
    expect(sessions()).toEqual(Array.from({ length: 5 }, () => 's-1'));
  });

  it('comes into the ledger in the order in which the hooks of a session ended', () => {
    const names = Array.from({ length: 40 }, (_, nth) => `s-${nth}`);
    for (const name of names) hook(stop(name));
    spool().take();
    expect(sessions()).toEqual(names);
  });

  it('[EVT-4] is recorded once, although a daemon was killed after it wrote the lines', () => {
    makeRun();
    for (const name of ['s-1', 's-2', 's-3']) hook(stop(name));
    // What a killed daemon leaves: a file whose lines are written.
    const names = waiting();
    for (const name of names) linkSync(join(folder(), name), join(dir, name));
    const one = spool();
    one.take();
    const written = [text(join(data(), 'events.jsonl')), text(join(run(), 'phases.jsonl'))];
    for (const name of names) linkSync(join(dir, name), join(folder(), name));
    hook(stop('s-4'));
    spool().take();
    expect(sessions()).toEqual(['s-1', 's-2', 's-3', 's-4']);
    expect(text(join(data(), 'events.jsonl')).startsWith(written[0]!)).toBe(true);
    expect(text(join(run(), 'phases.jsonl')).split('\n')).toHaveLength(5);
    expect(waiting()).toEqual([]);
  });

  it('[EVT-4] is recorded once, although a daemon was killed after its line had rotated the ledger', () => {
    hook(stop('s-1'));
    const [name = ''] = waiting();
    linkSync(join(folder(), name), join(dir, name));
    const path = join(data(), 'events.jsonl');
    writeFileSync(path, '');
    truncateSync(path, ROTATE_BYTES);
    spool().take();
    expect(existsSync(path)).toBe(false);
    linkSync(join(dir, name), join(folder(), name));
    spool().take();
    expect(existsSync(path)).toBe(false);
    expect(waiting()).toEqual([]);
  });

  it('waits while its hook still writes it, and is dropped and counted if it never ends', async () => {
    let now = Date.now();
    const one = spool({ now: () => now });
    hook(stop('s-1'));
    writeFileSync(join(folder(), '5.0'), '1\nclaude\n\n\n\n{"session_id":"s-2","hook_event_name":"St');
    one.take();
    expect(sessions()).toEqual(['s-1']);
    appendFileSync(join(folder(), '5.0'), 'op"}');
    await until('the second event is recorded', () => sessions().length === 2);
    writeFileSync(join(folder(), '6.0'), 'no event');
    one.take();
    expect(waiting()).toEqual(['6.0']);
    now += 120_000;
    one.start();
    expect(waiting()).toEqual([]);
    expect(one.dropped).toBe(1);
    expect(one.logged).toEqual(['events of hooks were dropped']);
  });

  it('stays while the ledger takes no line, in its order, and tells its run all the same', () => {
    makeRun();
    const broken = join(data(), 'broken');
    mkdirSync(broken, { recursive: true });
    const one = spool({ events_file: broken });
    for (const name of ['s-1', 's-2']) hook(stop(name));
    one.take();
    hook(stop('s-3'));
    one.take();
    expect(text(join(run(), 'phases.jsonl')).split('\n')).toHaveLength(4);
    expect(waiting()).toHaveLength(3);
    expect(one.logged).toEqual(['what hooks told waits, since it cannot be recorded']);
    rmSync(broken, { recursive: true });
    one.take();
    expect(text(broken).match(/s-\d/g)).toEqual(['s-1', 's-2', 's-3']);
    expect(text(join(run(), 'phases.jsonl')).split('\n')).toHaveLength(4);
    expect(waiting()).toEqual([]);
  });

  it.each(['/dev/full', '/proc/nowhere/events.jsonl'])('stays while its ledger is %s', (events_file) => {
    hook(stop('s-1'));
    spool({ events_file }).take();
    expect(waiting()).toHaveLength(1);
    spool().take();
    expect(sessions()).toEqual(['s-1']);
  });

  it('is not mistaken where a folder, a pipe or a link stands in its place', () => {
    hook(stop('s-1'));
    mkdirSync(join(folder(), '7.0'));
    execFileSync('mkfifo', [join(folder(), '7.1')]);
    execFileSync('ln', ['-s', '/dev/zero', join(folder(), '7.2')]);
    spool().take();
    expect(sessions()).toEqual(['s-1']);
  });

  it('[EVT-4] is taken soon after the hook has ended, without asking for it', async () => {
    const one = spool();
    one.start();
    hook(stop('s-1'));
    const from = performance.now();
    await until('the event is in the ledger', () => sessions().length === 1);
    expect(performance.now() - from).toBeLessThan(1_500);
    // The next hook makes a folder that was removed.
    rmSync(folder(), { recursive: true });
    hook(stop('s-2'));
    await until('the next event is in the ledger', () => sessions().length === 2);
  });

  it('[EVT-4] [P7] loses no event of 50 hooks at once, while the ledger is rotated once', async () => {
    const path = join(data(), 'events.jsonl');
    mkdirSync(data());
    writeFileSync(path, '');
    truncateSync(path, ROTATE_BYTES);
    spool().start();
    const wanted = Array.from({ length: 50 }, (_, nth) => `s-${nth}`);
    await Promise.all(
      wanted.map(
        (session) =>
          new Promise((resolve) => {
            const env = { HOME: dir, PATH: process.env.PATH, SVC_DATA_DIR: data() };
            const child = spawn('/bin/sh', [hookScript(), 'claude'], {
              env,
              stdio: ['pipe', 'ignore', 'ignore'],
            });
            child.stdin.end(JSON.stringify(stop(session)));
            child.on('close', resolve);
          }),
      ),
    );
    await until('all events are taken', () => waiting().length === 0);
    const old = readFileSync(`${path}.1`).subarray(ROTATE_BYTES).toString('utf8');
    const all = `${old}${text(path)}`.match(/"s-\d+"/g)!.map((one) => JSON.parse(one));
    expect(all.sort()).toEqual(wanted.sort());
    expect(statSync(`${path}.1`).size).toBeGreaterThanOrEqual(ROTATE_BYTES);
  }, 60_000);
});

describe('a commit that hooks tell of', () => {
  const who = {
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@b',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@b',
  };
  const repo = () => join(dir, 'repo');
  const git = (args: string[], more: NodeJS.ProcessEnv = {}) =>
    execFileSync('git', args, { cwd: repo(), env: { HOME: dir, PATH: process.env.PATH, ...who, ...more } });
  const commit = (subject: string, more: NodeJS.ProcessEnv = {}) =>
    git(['commit', '-q', '--allow-empty', '-m', subject], more);
  const tool = (command: string, session_id = 's-5') => ({
    ...{
      session_id,
      cwd: repo(),
      hook_event_name: 'PostToolUse',
      tool_name: 'Bash',
      tool_input: { command },
    },
  });
  const commits = () => text(join(data(), 'commits.jsonl'));
  const subjects = () =>
    [...commits().matchAll(/"subject":("(?:[^"\\]|\\.)*")/g)].map(([, one]) => JSON.parse(one!));
  const takeAll = async (one = spool()) => {
    one.take();
    await until('all are recorded', () => waiting().length === 0);
  };
  beforeEach(() => {
    makeRun();
    mkdirSync(join(repo(), 'sub'), { recursive: true });
    git(['init', '-q']);
  });

  it('becomes the line that a hook of its own process wrote', async () => {
    writeFileSync(join(repo(), 'f'), '1\n2\n');
    git(['add', 'f']);
    commit('One "é"');
    hook({ ...tool('cd sub && git commit -m x'), session_id: '5f0c2d1e-7a3b-4c5d-8e9f-000000000001' });
    await takeAll();
    const line = commits()
      .replaceAll(repo(), '<repo>')
      .replace(/[0-9a-f]{40}/g, '<sha>');
    expect(hidden(line)).toBe(COMMIT_LINES.tool);
  });

  it('is recorded once, whoever tells of it, and not at all if it is old', async () => {
    commit('New');
    hook(tool('git commit -m x'));
    await takeAll();
    hook(tool('git commit -m x', 's-6'));
    await takeAll();
    commit('Old', { GIT_COMMITTER_DATE: '2020-01-01T00:00:00Z' });
    hook(tool('git commit -m x'));
    await takeAll();
    expect(subjects()).toEqual(['New']);
    expect(events()).toHaveLength(3);
  });

  it('is the one that was made then, although the daemon hears of it later', async () => {
    commit('Told', { GIT_COMMITTER_DATE: `${Math.floor(Date.now() / 1_000) - 60} +0000` });
    hook(tool('git commit -m x'));
    const [name = ''] = waiting();
    const then = Date.now() / 1_000 - 30;
    utimesSync(join(folder(), name), then, then);
    commit('Later');
    await takeAll();
    expect(subjects()).toEqual(['Told']);
  });

  it('is recorded by the next daemon if one was killed before it asked Git', async () => {
    commit('New');
    hook(tool('git commit -m x'));
    const one = spool();
    one.take();
    await one.stop();
    rmSync(join(data(), 'commits.jsonl'), { force: true });
    hook(tool('git commit -m x', 's-7'));
    await takeAll();
    expect(subjects()).toEqual(['New']);
  });

  it('stays while its ledger takes no line, which is logged once', async () => {
    commit('New');
    mkdirSync(join(data(), 'commits.jsonl'));
    hook(tool('git commit -m x'));
    const one = spool();
    one.take();
    await until('it cannot be recorded', () => one.logged.length > 0);
    one.take();
    await one.stop();
    expect(one.logged).toEqual(['commits that hooks told of wait, since they cannot be recorded']);
    expect(events()).toHaveLength(1);
    rmSync(join(data(), 'commits.jsonl'), { recursive: true });
    await takeAll(one);
    expect(subjects()).toEqual(['New']);
  });

  it('is nothing outside a repository', async () => {
    hook({ ...tool('git commit -m x'), cwd: dir });
    await takeAll();
    expect(commits()).toBe('');
    expect(events()).toHaveLength(1);
  });
});
