import { chmodSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { run } from '../kit/test-home.ts';
import { until } from '../kit/until.ts';

const COMPOSER = new URL('../faults/composer-agent.mjs', import.meta.url).pathname;

/** The host that a person sits at, and the one that the worker runs on. */
let here: TestDaemon;
let there: TestDaemon;
beforeAll(async () => {
  [here, there] = await Promise.all([
    startTestDaemon({ settings: { SVC_HOST: 'host-a' } }),
    startTestDaemon({
      settings: { SVC_HOST: 'host-b' },
      prepare(home) {
        home.fiber('tide-gauges', { agent: 'talks', svc: { host: 'host-b' } });
        home.fiber('listener', { svc: { host: 'host-b', agent: 'composer' } });
        const path = home.path('config/agents.json');
        const file = JSON.parse(readFileSync(path, 'utf8'));
        file.agents.push({
          ...{
            id: 'composer',
            harness: 'claude',
            cli: process.execPath,
            effort_levels: [],
            prompt: 'argument',
          },
          ...{ args: [COMPOSER, home.path('witness.jsonl')], env: { CLAUDE_CONFIG_DIR: home.claude } },
        });
        writeFileSync(path, JSON.stringify(file));
      },
    }),
  ]);
  const remotes = [{ name: 'host-b', url: `http://${there.address}` }];
  here.home.write('config/remotes.json', { remotes });
  await there.running('tide-gauges');
  const folder = there.home.project('tide-gauges');
  expect((await run('git', ['init', '--quiet', folder], there.home.env)).code).toBe(0);
  const who = '-c user.name=Ada -c user.email=ada@example.org';
  const work = [
    'printf "one\\n" > read.txt && git add read.txt',
    `git ${who} commit --quiet -m "Read the gauges" && svc hook commit`,
    'printf "two\\n" >> read.txt',
  ].join(' && ');
  renameSync(there.home.write('projects/tide-gauges/orders.new', `${work}\n`), join(folder, 'orders'));
  await until('the work', () => {
    try {
      return readFileSync(join(folder, 'answer'), 'utf8') === '' ? true : null;
    } catch {
      return null;
    }
  });
  await until('the remote', async () => (await here.home.svc('why', 'tide-gauges')).code === 0);
});
afterAll(async () => {
  await Promise.all([here?.dispose(), there?.dispose()]);
});

/** What a command prints on the host of the worker, and on the other one. */
async function printed(...args: string[]): Promise<string[]> {
  const both = await Promise.all([there, here].map(({ home }) => home.svc(...args)));
  for (const ran of both) expect(ran, args.join(' ')).toMatchObject({ code: 0 });
  return both.map(({ stdout }) => stdout);
}

describe('what a worker did', () => {
  it('[RPL-12] is read in its conversation, from any host and by the beginning of an id', async () => {
    await until('its first words', async () =>
      (await there.home.svc('transcript', 'lis')).stdout.includes('Ready.'),
    );
    for (const text of await printed('transcript', 'lis')) expect(text).toMatch(/listener[\s\S]*Ready\./);
  });

  it('[TMP-3] is shown as its commits and as what lies uncommitted', async () => {
    for (const text of await printed('diff', 'tide')) {
      expect(text).toContain('Read the gauges');
      expect(text).toContain('read.txt');
    }
    for (const text of await printed('diff', 'tide-gauges', '--patch')) {
      expect(text).toContain('+one');
      expect(text).toContain('+two');
    }
  });

  it('is counted by svc spend on its own host', async () => {
    const { stdout, code } = await there.home.svc('spend', '--by', 'fiber', '--json');
    expect(code).toBe(0);
    expect(stdout).toContain('tide-gauges');
  });
});

it('opens a fiber in the editor of a person at a terminal, and writes what that left', async () => {
  const { home } = there;
  home.fiber('notes', { svc: null, front: { status: 'open' } });
  const editor = home.write('bin/editor', '#!/bin/sh\nprintf "More of it.\\n" >>"$1"\n');
  chmodSync(editor, 0o755);
  const line = `'${process.execPath}' '${home.launcher}' fiber edit notes; sleep 60`;
  const size = ['-x', '80', '-y', '24'];
  // The server has the environment of whoever started it.
  const names = ['SVC_STORES', 'SVC_CONFIG_DIR', 'SVC_DATA_DIR', 'SVC_RUNTIME_DIR', 'SVC_HOST'];
  const env = [...names.map((name) => `${name}=${home.env[name]}`), `VISUAL=${editor}`];
  const given = env.flatMap((one) => ['-e', one]);
  await home.tmux('new-session', '-d', '-s', 'person', ...size, ...given, line);
  await until('the text', () => home.document('notes').includes('More of it.'));
  await until('the answer', async () =>
    (await home.tmux('capture-pane', '-p', '-t', 'person')).includes('notes '),
  );
  await home.tmux('kill-session', '-t', 'person');
});
