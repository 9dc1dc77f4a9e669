import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createAdapters } from '../../src/harness/adapters.ts';
import { createCapabilities } from '../../src/harness/capabilities.ts';
import { headLines } from '../../src/harness/transcripts/transcript-files.ts';
import { type ScratchFolder, scratchFolder } from '../kit/scratch-folder.ts';
import { agentOf, BORN, FIXTURE_HOMES } from './fixture-homes.ts';

let scratch: ScratchFolder;
let project_dir: string;
beforeEach(() => {
  scratch = scratchFolder();
  project_dir = scratch.mkdir('project');
});
afterEach(() => scratch.remove());

describe.each(['codex', 'pi'] as const)('a %s launch with an unknown session id', (name) => {
  const home = FIXTURE_HOMES[name];
  const learn = () => {
    const env = { HOME: join(scratch.path, 'home') };
    const runner = { run: async () => ({ kind: 'exited' }) };
    const adapter = createAdapters({ env, uid: 0, capabilities: createCapabilities({ runner, env }) })[name];
    const query = {
      agent: agentOf(name),
      project_dir,
      session_uuid: null,
      marker: '01KMARKER',
      launched_at: BORN,
    };
    return adapter.findTranscript(query);
  };
  const write = (index: number, change: { cwd?: string; prompt?: string; at?: number } = {}) =>
    home.writeTranscript(scratch, 'home', {
      session_uuid: home.uuid(index),
      cwd: project_dir,
      prompt: 'Run: 01KMARKER',
      at: BORN + 1_000,
      ...change,
    });

  it('is identified by the marker in its user message', async () => {
    write(1, { prompt: 'Run: 01KOTHER' });
    const path = write(2);
    expect(await learn()).toMatchObject({ kind: 'found', session_uuid: home.uuid(2), path });
  });

  it('is missing until the message is written, and while its line is incomplete', async () => {
    expect(await learn()).toEqual({ kind: 'missing' });
    const path = write(1);
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, text.slice(0, text.indexOf('01KMARKER') + 9));
    expect(await learn()).toEqual({ kind: 'missing' });
    appendFileSync(path, text.slice(text.indexOf('01KMARKER') + 9));
    expect(await learn()).toMatchObject({ kind: 'found', path });
  });

  it('is not mistaken for a session of another folder or from before the launch', async () => {
    write(1, { cwd: `${project_dir}-2` });
    write(2, { at: BORN - 60_000 });
    expect(await learn()).toEqual({ kind: 'missing' });
  });

  it('is not mistaken for a session in which the agent, not the user, wrote the marker', async () => {
    const path = write(1, { prompt: 'hello' });
    const said = readFileSync(path, 'utf8').replaceAll('"role":"developer"', '"role":"assistant"');
    writeFileSync(
      path,
      said.replace('permissions', '01KMARKER').replace('"text":"done"', '"text":"01KMARKER"'),
    );
    expect(await learn()).toEqual({ kind: 'missing' });
  });
});

it('a forked or sub-agent session of codex is not taken for the launch', async () => {
  const home = FIXTURE_HOMES.codex;
  const env = { HOME: join(scratch.path, 'home') };
  const runner = { run: async () => ({ kind: 'exited' }) };
  const { codex } = createAdapters({ env, uid: 0, capabilities: createCapabilities({ runner, env }) });
  const session = { cwd: project_dir, prompt: 'Run: 01KMARKER', at: BORN + 1_000 };
  const change = (index: number, from: string, to: string) => {
    const path = home.writeTranscript(scratch, 'home', { ...session, session_uuid: home.uuid(index) });
    writeFileSync(path, readFileSync(path, 'utf8').replace(from, to));
  };
  change(1, '"source":"cli"', '"source":{"subagent":"review"}');
  change(2, '"source":"cli"', '"source":"cli","forked_from_id":"x"');
  const query = { agent: agentOf('codex'), project_dir, marker: '01KMARKER', launched_at: BORN };
  expect(await codex.findTranscript({ ...query, session_uuid: null })).toEqual({ kind: 'missing' });
});

it('an archived codex session, and one with an older kind of id, are found', async () => {
  const env = { HOME: join(scratch.path, 'home') };
  const runner = { run: async () => ({ kind: 'exited' }) };
  const { codex } = createAdapters({ env, uid: 0, capabilities: createCapabilities({ runner, env }) });
  const archived = scratch.write(
    `home/.codex/archived_sessions/rollout-2026-11-21T12-00-00-${FIXTURE_HOMES.codex.uuid(1)}.jsonl`,
    '{}\n',
  );
  const older = scratch.write(
    'home/.codex/sessions/2024/02/29/rollout-2024-02-29T00-00-00-abc.jsonl',
    '{}\n',
  );
  const query = { agent: agentOf('codex'), project_dir, marker: 'x', launched_at: BORN };
  const find = (session_uuid: string) => codex.findTranscript({ ...query, session_uuid });
  expect(await find(FIXTURE_HOMES.codex.uuid(1))).toMatchObject({ kind: 'found', path: archived });
  expect(await find('abc')).toMatchObject({ kind: 'found', path: older });
  expect(await find('bc')).toEqual({ kind: 'missing' });
});

it('a pi session is searched in the configured folder', async () => {
  const env: NodeJS.ProcessEnv = { HOME: join(scratch.path, 'home') };
  const runner = { run: async () => ({ kind: 'exited' }) };
  const { pi } = createAdapters({ env, uid: 0, capabilities: createCapabilities({ runner, env }) });
  const find = (args: string[] = []) =>
    pi.findTranscript({
      agent: agentOf('pi', { args }),
      project_dir,
      session_uuid: 'id-1',
      marker: 'x',
      launched_at: BORN,
    });
  const byArgument = scratch.write('by-argument/t_id-1.jsonl', '{}\n');
  const byVariable = scratch.write('by-variable/t_id-1.jsonl', '{}\n');
  const bySetting = scratch.write('home/by-setting/t_id-1.jsonl', '{}\n');
  scratch.write('home/.pi/agent/settings.json', { sessionDir: '~/by-setting' });
  expect(await find()).toMatchObject({ path: bySetting });
  env.PI_CODING_AGENT_SESSION_DIR = join(scratch.path, 'by-variable');
  expect(await find()).toMatchObject({ path: byVariable });
  expect(await find(['--session-dir', join(scratch.path, 'by-argument')])).toMatchObject({
    path: byArgument,
  });
});

it('the start of a file is read line by line, however long a line is, and only up to its limit', async () => {
  const long = 'x'.repeat(700_000);
  const path = scratch.write('lines', `one\n${long}\nthree\nunfinished`);
  const lines: string[] = [];
  for await (const line of headLines(path)) lines.push(line);
  expect(lines).toEqual(['one', long, 'three']);
  const huge = scratch.write('huge', `${'y'.repeat(9 * 1024 * 1024)}\nafter\n`);
  for await (const line of headLines(huge)) expect.fail(`read ${line.length} bytes`);
});
