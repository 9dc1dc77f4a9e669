import { mkdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { until } from '../kit/until.ts';

const LAUNCHER = fileURLToPath(new URL('../../src/cli/launcher.mjs', import.meta.url));

/** A day on the command line alone: every step is the real `svc`, and every next command is one that it named. */
describe('a day with the command line alone', () => {
  let daemon: TestDaemon;
  let project: string;

  beforeAll(async () => {
    daemon = await startTestDaemon({
      release: false,
      prepare(home) {
        project = home.project('mine');
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
    expect(why).toContain('say-hello does not run: the daemon was started anew');
    leads(why, 'svc daemon release');
    await svc(...leads(installed, 'svc daemon release'));
    await statusWhen('say-hello', 'is closed for review', (row) => row.status === 'closed');
    await until('the worker is gone', async () =>
      (await svc('ps')) === 'No worker runs.\n' ? true : undefined,
    );
    const page = await svc('status', 'say-hello');
    expect(page).toContain('Session 1 of 1');
    const accept = leads(page, 'svc accept say-hello');
    await svc(...accept);
    const accepted = await svc('status', 'say-hello');
    expect(accepted).toContain('closed, accepted');
    expect(accepted).not.toContain('svc accept');
  });

  it('runs a role by its schedule, and again once it is accepted', async () => {
    await svc('fiber', 'add', 'Digest', '--body', 'Look around.\n\nSessions planned: 9');
    const repeated = await svc(
      ...['repeat', 'digest', '--project-dir', project, '--agent', 'player', '--schedule', '0 9 1 1 *'],
    );
    leads(repeated, 'svc status');
    expect(await svc('status')).toMatch(/Standing roles\n.*\ndigest +0 9 1 1 \*/);
    const dispatch = leads(await svc('why', 'digest'), 'svc dispatch digest');
    await svc(...dispatch);
    await statusWhen('digest', 'awaits review', (row) => row.status === 'closed');
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
    await svc('kill', 'long-work');
    const why = await svc('why', 'long-work');
    expect(why).toContain('long-work does not run');
    await svc(...leads(why, 'svc dispatch long-work'));
    expect(await svc('ps')).toContain('long-work');
    await svc('close', 'long-work', '--kill');
    await until('no worker runs', async () => ((await svc('ps')) === 'No worker runs.\n' ? true : undefined));
  });
});
