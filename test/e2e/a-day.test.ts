import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { programOf } from '../kit/built-package.ts';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { until } from '../kit/until.ts';

const LAUNCHER = programOf('launcher.mjs');

/** A day on the command line alone: every step is the real `svc`, and every next command is one that it named. */
describe('a day with the command line alone', () => {
  let daemon: TestDaemon;
  let project: string;

  beforeAll(async () => {
    daemon = await startTestDaemon({
      release: false,
      prepare(home) {
        project = home.project('mine');
        execFileSync('git', ['init', '--quiet', project]);
        mkdirSync(home.path('demo-claude'));
        const path = home.path('config', 'agents.json');
        const file = JSON.parse(readFileSync(path, 'utf8'));
        file.agents.push({
          id: 'player',
          harness: 'claude',
          cli: process.execPath,
          args: [LAUNCHER, 'demo-agent', '--pace-ms', '50', '--playground', home.path('projects')],
          effort_levels: [],
          env: { CLAUDE_CONFIG_DIR: home.path('demo-claude') },
        });
        home.write('config/agents.json', file);
      },
    });
  });
  afterAll(() => daemon.dispose());

  /** Runs a command that has to succeed and answers what it printed. */
  async function svc(...argv: string[]): Promise<string> {
    const ran = await daemon.home.svc(...argv);
    expect(ran, `svc ${argv.join(' ')}`).toMatchObject({ code: 0, stderr: '' });
    return ran.stdout;
  }
  const json = async (...argv: string[]) => JSON.parse(await svc(...argv, '--json'));
  const statusWhen = (id: string, what: string, holds: (row: Record<string, unknown>) => boolean) =>
    until(`${id} ${what}`, async () => {
      const row = await json('status', id);
      return holds(row) ? row : undefined;
    });
  const leads = (text: string, command: string) => {
    expect(text).toContain(command);
    return command.split(' ').slice(1);
  };

  it('leads from a draft to accepted work', async () => {
    const added = await svc('fiber', 'add', 'Say hello', '--body', 'Greet.\n\nSessions planned: 1');
    expect(added).toContain('svc install say-hello --project-dir');
    const installed = await svc('install', 'say-hello', '--project-dir', project, '--agent', 'player');
    const why = await svc('why', 'say-hello');
    expect(why).toContain('say-hello does not run: the daemon was restarted');
    leads(why, 'svc daemon release');
    await svc(...leads(installed, 'svc daemon release'));
    await statusWhen('say-hello', 'is closed for review', (row) => row.status === 'closed');
    await until('the worker is gone', async () =>
      (await svc('ps')) === 'No worker runs.\n' ? true : undefined,
    );
    const page = await svc('status', 'say-hello');
    expect(page).toContain('Done in 1 session');
    const accept = leads(page, 'svc accept say-hello');
    await svc(...accept);
    const accepted = await svc('status', 'say-hello');
    expect(accepted).toContain('closed, accepted');
    expect(accepted).not.toContain('svc accept');
  });

  it('[TMP-2] tells in svc log who closed, accepted and reopened a fiber, in the order of causes', async () => {
    await svc('reopen', 'say-hello');
    await svc('close', 'say-hello', '--kill', '--yes');
    const changes = async () => {
      const { entries } = await json('log', 'say-hello');
      return (entries as { kind: string; by?: string }[]).flatMap(({ kind, by }) =>
        by === undefined
          ? ['dispatch', 'ended', 'handoff'].includes(kind)
            ? [kind]
            : []
          : [`${kind} ${by}`],
      );
    };
    const told = await until('the last closing is told', async () => {
      const found = await changes();
      return found.at(-1) === 'closed cli' ? found : undefined;
    });
    expect(told.slice(0, 5)).toEqual(['dispatch', 'closed agent', 'handoff', 'accepted cli', 'reopened cli']);
    const page = await svc('log', 'say-hello');
    expect(page).toMatch(/\tclosed\tby player$/m);
    expect(page).toMatch(/\taccepted\tby you$/m);
  });

  it('runs a role on its schedule, and again after it is accepted', async () => {
    await svc('fiber', 'add', 'Digest', '--body', 'Look around.\n\nSessions planned: 9');
    const repeated = await svc(
      ...['repeat', 'digest', '--project-dir', project, '--agent', 'player', '--schedule', '0 9 1 1 *'],
    );
    leads(repeated, 'svc status');
    expect(await svc('status')).toMatch(/^next\tdigest\t/m);
    const dispatch = leads(await svc('why', 'digest'), 'svc dispatch digest');
    await svc(...dispatch);
    const row = await statusWhen('digest', 'awaits review', (one) => one.status === 'closed');
    expect(row.outcome).toContain('ession 1 of 9');
    await svc('accept', 'digest');
    expect(await json('status', 'digest')).toMatchObject({ status: 'active' });
    await svc('pause', 'digest');
    expect(await svc('why', 'digest')).toContain('digest does not run');
  });

  it('stops a worker, says why it stays stopped, and starts it again', async () => {
    await svc('fiber', 'add', 'Long work');
    await svc('install', 'long-work', '--project-dir', project, '--agent', 'stays');
    await statusWhen('long-work', 'runs', (row) => row.runtime !== undefined);
    expect(await svc('ps')).toContain('long-work');
    await svc('kill', 'long-work', '--yes');
    const why = await svc('why', 'long-work');
    expect(why).toContain('long-work does not run');
    await svc(...leads(why, 'svc dispatch long-work'));
    expect(await svc('ps')).toContain('long-work');
    await svc('close', 'long-work', '--kill', '--yes');
    await until('no worker runs', async () => ((await svc('ps')) === 'No worker runs.\n' ? true : undefined));
  });

  it('makes a store, creates a draft in it, and finds it', async () => {
    const notes = daemon.home.path('notes-of-mine');
    mkdirSync(notes);
    expect(await json('fiber', 'init', notes)).toMatchObject({ store: notes });
    await svc('fiber', 'add', 'An idea', '--store', notes);
    expect(await svc('fiber', 'show', 'an-idea', '--store', notes)).toContain('An idea');
  });

  it('stops everything in an emergency, and starts work again', async () => {
    await svc('fiber', 'add', 'Next work');
    await svc('stop-all', '--note', 'the disk is full');
    await svc('install', 'next-work', '--project-dir', project, '--agent', 'stays');
    expect(await svc('why', 'next-work')).toContain('the disk is full');
    const refused = await daemon.home.svc('dispatch', 'next-work');
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    leads(refused.stderr, 'svc resume-all');
    expect(await svc('ps')).toBe('No worker runs.\n');
    await svc('resume-all');
    await statusWhen('next-work', 'runs', (row) => row.runtime !== undefined);
    await svc('pause', 'next-work', '--kill', '--yes');
    expect(await json('status', 'next-work')).toMatchObject({ status: 'open' });
    await svc('resume', 'next-work');
    await statusWhen('next-work', 'runs again', (row) => row.runtime !== undefined);
    await svc('uninstall', 'next-work', '--kill', '--yes');
    await until('no worker runs', async () => ((await svc('ps')) === 'No worker runs.\n' ? true : undefined));
    expect((await json('status', 'next-work')).svc).toBeUndefined();
  });

  it('has a worker hand off with its own command, and starts the next one fresh', async () => {
    await svc('fiber', 'add', 'Relay');
    await svc('install', 'relay', '--project-dir', project, '--agent', 'hands-off');
    const handed = await statusWhen('relay', 'was handed off and taken up again', (row) => {
      const { runtime } = row.svc as { runtime?: { handed_off_at?: string; dispatched_at?: string } };
      return runtime?.handed_off_at !== undefined;
    });
    expect(handed.status).toBe('active');
    await svc('close', 'relay', '--kill', '--yes');
    await until('no worker runs', async () => ((await svc('ps')) === 'No worker runs.\n' ? true : undefined));
  });
});
