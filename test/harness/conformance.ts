import { chmodSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Agent } from '../../src/contract/agent.ts';
import { type HarnessAdapter, type LaunchRequest, PROMPT } from '../../src/harness/adapter.ts';
import { type ScratchFolder, scratchFolder } from '../kit/scratch-folder.ts';
import { agentOf, BORN, type FixtureHome } from './fixture-homes.ts';

/** What every adapter must do; `make` builds it over the environment that it is to read. */
export function adapterConformance(
  home: FixtureHome,
  make: (env: NodeJS.ProcessEnv) => HarnessAdapter,
): void {
  let scratch: ScratchFolder;
  let project_dir: string;
  let env: NodeJS.ProcessEnv;
  let agent: Agent;
  beforeEach(() => {
    scratch = scratchFolder();
    project_dir = scratch.mkdir('srv/my.project');
    scratch.write(`bin/${home.harness}`, '#!/bin/sh\n', 0o755);
    env = { HOME: join(scratch.path, 'home'), PATH: join(scratch.path, 'bin') };
    agent = agentOf(home.harness);
  });
  afterEach(() => scratch.remove());

  const request = (change: Partial<LaunchRequest> = {}): LaunchRequest => ({
    agent,
    effort: null,
    session_uuid: '99999999-9999-4999-8999-999999999999',
    resume: null,
    project_dir,
    session_name: 'loader-01K-svc',
    run_dir: join(scratch.path, 'run'),
    prompt_file: join(scratch.path, 'run/prompt.md'),
    ...change,
  });
  const query = (change: object = {}) => ({
    agent,
    project_dir,
    session_uuid: home.uuid(1) as string | null,
    marker: '01KMARKER',
    launched_at: BORN,
    ...change,
  });
  const session = { cwd: '', prompt: 'You are a worker.\nRun: 01KMARKER\n', at: BORN, session_uuid: '' };
  const written = (index: number, change: Partial<typeof session> = {}, where = 'home') =>
    home.writeTranscript(scratch, where, {
      ...session,
      cwd: project_dir,
      session_uuid: home.uuid(index),
      ...change,
    });

  describe('a launch', () => {
    it('refers the program to the prompt, which is in no argument', () => {
      const { argv, prompt_on_stdin } = make(env).planLaunch(request());
      expect(argv).not.toContain(PROMPT);
      expect(prompt_on_stdin || String(argv.at(-1)).includes(request().prompt_file)).toBe(true);
    });

    it('starts a program that accepts only arguments with its own first and the prompt last, once', () => {
      agent = agentOf(home.harness, { cli: '/opt/agent', args: ['--one', 'two words'], prompt: 'argument' });
      const { argv, prompt_on_stdin } = make(env).planLaunch(request());
      expect(prompt_on_stdin).toBe(false);
      expect(argv.slice(0, 3)).toEqual(['/opt/agent', '--one', 'two words']);
      expect(argv.at(-1)).toBe(PROMPT);
      expect(argv.filter((argument) => argument === PROMPT)).toHaveLength(1);
    });

    it('passes model and effort, and neither if none is set', () => {
      agent = agentOf(home.harness, { model: 'model-x', args: [] });
      const text = make(env)
        .planLaunch(request({ effort: 'high' }))
        .argv.map(String)
        .join(' ');
      expect(text).toContain('model-x');
      expect(text).toMatch(/high/);
      agent = agentOf(home.harness, { model: null, args: [] });
      const plain = make(env).planLaunch(request()).argv.map(String).join(' ');
      expect(plain).not.toMatch(/model[^_]|-m |effort|thinking/);
    });

    it('gives the program the variables of its agent and none of its own', () => {
      agent = agentOf(home.harness, { env: { A: '1' } });
      const { env: given, files } = make(env).planLaunch(request());
      expect(given).toEqual({ A: '1' });
      expect(files).toEqual([]);
    });

    it('names the session it resumes, and keeps its id', () => {
      const { argv, session_uuid } = make(env).planLaunch(request({ resume: 'old-session' }));
      expect(argv).toContain('old-session');
      expect(session_uuid).toBe('old-session');
      expect(argv).not.toContain(request().session_uuid);
    });

    it('can be resumed by hand with the agent’s own program and arguments', () => {
      agent = agentOf(home.harness, { cli: '/opt/agent', args: ['--one'] });
      const argv = make(env).resumeArgv(agent, 'old-session');
      expect(argv.slice(0, 2)).toEqual(['/opt/agent', '--one']);
      expect(argv).toContain('old-session');
    });
  });

  describe('a transcript', () => {
    it('is found by its id, with its size and the time of its last record', async () => {
      const path = written(1);
      written(2);
      expect(await make(env).findTranscript(query())).toEqual({
        kind: 'found',
        session_uuid: home.uuid(1),
        path,
        size: expect.any(Number),
        mtime_ms: BORN,
      });
    });

    it('is missing if there is no home, no folder or no file', async () => {
      expect(await make(env).findTranscript(query())).toEqual({ kind: 'missing' });
      written(2);
      expect(await make(env).findTranscript(query())).toEqual({ kind: 'missing' });
    });

    it('is unknown if the disk does not answer', async () => {
      const path = written(1);
      const folder = join(path, '..');
      scratch.remove();
      scratch.mkdir(join(folder, '..').slice(scratch.path.length));
      symlinkSync(folder, folder);
      expect(await make(env).findTranscript(query())).toMatchObject({ kind: 'unknown' });
    });

    it('is searched in the home that the agent’s own variables name', async () => {
      const path = written(1, {}, 'other-home');
      expect(await make(env).findTranscript(query())).toEqual({ kind: 'missing' });
      agent = agentOf(home.harness, { env: { HOME: join(scratch.path, 'other-home') } });
      expect(await make(env).findTranscript(query())).toMatchObject({ kind: 'found', path });
    });

    it('is found when the project is reached through a link', async () => {
      const path = written(1);
      const link = join(scratch.path, 'link');
      symlinkSync(project_dir, link);
      const probe = await make(env).findTranscript(query({ project_dir: link }));
      expect(probe).toMatchObject({ kind: 'found', path });
    });
  });

  describe('the first-run check', () => {
    const check = (project: string | null = project_dir) =>
      make(env).checkFirstRun({ agent, project_dir: project });

    it('finds nothing if the program is set up and trusts the project', async () => {
      Object.assign(env, home.writeReady(scratch, 'home', project_dir));
      expect(await check()).toEqual([]);
      expect(await check(null)).toEqual([]);
    });

    it('reports a program that is not on PATH, and one with a wrong path', async () => {
      Object.assign(env, home.writeReady(scratch, 'home', project_dir));
      env.PATH = '/nowhere';
      expect(await check()).toEqual([
        { severity: 'error', what: expect.stringMatching(/not on PATH/), mend: expect.any(String) },
      ]);
      agent = agentOf(home.harness, { cli: join(scratch.path, 'bin', home.harness) });
      expect(await check()).toEqual([]);
      chmodSync(agent.cli, 0o600);
      expect(await check()).toEqual([expect.objectContaining({ severity: 'error' })]);
    });

    it('reports a home in which the program was never set up', async () => {
      const findings = await check();
      expect(findings.length).toBeGreaterThan(0);
      for (const { what, mend } of findings) {
        expect(what).not.toBe('');
        expect(mend).not.toBe('');
      }
    });

    it('reports a configuration file that the program itself could not read', async () => {
      Object.assign(env, home.writeReady(scratch, 'home', project_dir));
      const file = {
        claude: '.claude.json',
        codex: '.codex/config.toml',
        pi: '.pi/agent/settings.json',
      }[home.harness];
      writeFileSync(join(scratch.path, 'home', file), '{{');
      const findings = await check();
      expect(findings).toContainEqual(
        expect.objectContaining({
          severity: 'error',
          what: expect.stringMatching(/is not valid (JSON|TOML)/),
        }),
      );
    });
  });
}
