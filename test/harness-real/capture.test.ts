import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { HARNESS_NAMES, type HarnessName } from '../../src/contract/harness-name.ts';
import { agree, agreeWithPages } from './agree.ts';
import { timesGiven } from './listening-worker.ts';
import { isAlive } from './processes.ts';
import { AGENT_IDS, type RealDaemon, startRealDaemon, WITHIN_MS } from './real-daemon.ts';

let daemon: RealDaemon | undefined;
afterEach(async () => {
  await daemon?.stop();
  daemon = undefined;
});

describe.each(HARNESS_NAMES)('a capture with the real %s', (name) => {
  it('[WPL-6] [WPL-5] [PRM-8] [CAP-5] [P1] files its fiber with its own shell, claims itself, survives the daemon and ends by its handoff', async () => {
    daemon = await startRealDaemon(name);
    const { stub, project_dir, store } = daemon;
    const done = join(project_dir, 'claimed');
    const file = `svc fiber add 'Swift loader' --slug swift --store ${store} --body 'The words.'`;
    const install = `svc install swift --store ${store} --project-dir ${project_dir} --agent ${AGENT_IDS[name]}`;
    stub.script({ match: 'Fiber: swift', steps: [{ text: 'and on' }] });
    stub.script({
      match: 'Make the loader swift.',
      steps: [
        { shell: `${file} && ${install} && svc claim swift > ${done} 2>&1` },
        { shell: `while [ ! -e ${done}-go ]; do sleep 0.1; done` },
        { shell: 'svc fiber edit swift --status closed' },
        { shell: 'svc handoff' },
        { text: 'too late' },
      ],
    });
    await daemon.release();
    const said = await daemon.svc(
      ...['capture', 'Make the loader swift.', '--project-dir', project_dir],
      ...['--agent', AGENT_IDS[name], '--json'],
    );
    const captured = JSON.parse(said) as { mux_session: string; session_uuid?: string; run_id: string };
    expect(captured.mux_session).toMatch(/^capture-[0-9a-f-]{36}$/);
    expect(captured.session_uuid === undefined).toBe(name === 'codex');

    await expect
      .poll(() => existsSync(done) && readFileSync(done, 'utf8'), { timeout: WITHIN_MS })
      .toMatch(/^swift was claimed before: /);
    const row = await daemon.rowWhere('swift', ({ runtime }) => runtime?.state === 'running');
    await daemon.rowWhere('swift', (one) => one.svc?.runtime?.session_uuid !== undefined);
    const { session_uuid } = (await daemon.row('swift')).svc!.runtime!;
    expect(row).toMatchObject({
      status: 'active',
      runtime: { mux_session: captured.mux_session, run_id: captured.run_id, surface: 'cli', harness: name },
      svc: { kind: 'oneshot', host: 'test-host', project_dir, agent: AGENT_IDS[name] },
    });
    expect(await daemon.transcriptOf(session_uuid!)).toContain('Make the loader swift.');
    expect((await daemon.state()).captures).toEqual([]);
    expect(await daemon.sessions()).toEqual(expect.arrayContaining([captured.mux_session]));
    expect(daemon.ledger().map(({ kind }) => kind)).toEqual(expect.arrayContaining(['capture', 'claim']));
    const launch = await daemon.launch(0);
    for (const path of launch.prompt.matchAll(/^(?:Skill \S+|Capture): (\/.*)$/gm))
      expect(existsSync(path[1]!), path[1]).toBe(true);

    const pid = daemon.agentPid(launch);
    await daemon.killAndRestart();
    await daemon.rowWhere('swift', ({ runtime }) => runtime?.mux_session === captured.mux_session);
    expect(isAlive(pid)).toBe(true);
    await agree(daemon);

    writeFileSync(`${done}-go`, '');
    expect(await daemon.endOf(launch)).toBe('handoff');
    expect(await daemon.goneProcessesOf(launch)).toEqual([]);
    const ended = await daemon.rowWhere('swift', ({ runtime }) => runtime === undefined);
    expect(ended).toMatchObject({ status: 'closed' });
    expect(Date.parse(ended.svc!.runtime!.handed_off_at!)).toBeGreaterThan(
      Date.parse(ended.svc!.runtime!.dispatched_at!),
    );
    expect(daemon.launches()).toHaveLength(1);

    const resumed = await daemon.svcMayFail('attach', '--session', session_uuid!);
    // It is opened, and there is no terminal here to show it in.
    expect(resumed.out).not.toMatch(/svc: (?!svc attach needs a terminal)/);
    expect(await daemon.sessions()).toContain(`resume-${session_uuid}`);
    // What was said last; Claude Code shows of its commands only how many there were.
    await expect
      .poll(() => daemon!.screen(`resume-${session_uuid}`), { timeout: WITHIN_MS })
      .toMatch(/svc fiber edit swift --status closed|Make the loader swift\./);
    expect((await daemon.state()).running).toEqual([]);
  });

  it('[WPL-5] [RCP-5] a session that a person started is claimed from inside and takes messages as any other', async () => {
    daemon = await startRealDaemon(name);
    const one = daemon;
    one.stub.script({
      match: 'Work by hand.',
      steps: [{ shell: `svc claim desk --store ${one.store}` }, { text: 'Ready.' }],
    });
    one.stub.script({ match: 'Please', steps: [{ text: 'Understood.' }] });
    await startByHand(one, name);
    const { runtime } = await one.rowWhere('desk', (row) => row.runtime?.phase === 'idle');
    const session = runtime!.session_uuid!;
    const address = `svc://test-host/${name}/${session}`;
    for (const [id, text] of [
      ['h-1', 'Please do one.'],
      ['h-2', 'Please do two.\n\nAnd tell me.'],
      ['h-3', `Please do ${'this and '.repeat(200)}that.`],
      ['h-4', `Please do\n${'a line\n'.repeat(60)}and that.`],
    ] as const) {
      const send = async () =>
        (await one.post('/messages', { address, message_id: id, text, from: 'ada' })).body;
      await expect.poll(send, { timeout: WITHIN_MS }).toMatchObject({ status: 'accepted' });
      expect(await timesGiven(one, session, id)).toBe(1);
    }
  });

  it('[WPL-5] a session that a person started is claimed from inside, and its handoff ends only the agent', async () => {
    daemon = await startRealDaemon(name);
    const { stub, project_dir, store } = daemon;
    const out = join(project_dir, 'claimed');
    stub.script({
      match: 'Work by hand.',
      steps: [
        { shell: `svc claim desk --store ${store} > ${out} 2>&1` },
        { shell: `while [ ! -e ${out}-go ]; do sleep 0.1; done` },
        { shell: 'svc handoff desk' },
        { text: 'too late' },
      ],
    });
    await startByHand(daemon, name);
    const row = await daemon.rowWhere('desk', ({ runtime }) => runtime?.state === 'running');
    expect(row).toMatchObject({ runtime: { mux_session: 'my-desk', harness: name }, status: 'open' });
    await expect
      .poll(() => readFileSync(out, 'utf8'), { timeout: WITHIN_MS })
      .toMatch(/^desk claimed: .* in my-desk$/m);
    const known = await daemon.rowWhere('desk', ({ runtime }) => runtime?.phase_source === 'hook');
    expect(known.runtime).toMatchObject({
      phase: 'working',
      session_uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(known.svc?.runtime?.session_uuid).toBe(known.runtime!.session_uuid);
    expect(await daemon.transcriptOf(known.runtime!.session_uuid!)).toContain('Work by hand.');
    await agreeWithPages(daemon);
    writeFileSync(`${out}-go`, '');
    await daemon.rowWhere('desk', ({ runtime }) => runtime === undefined);
    await agreeWithPages(daemon);
    expect((await daemon.row('desk')).svc?.runtime?.handed_off_at).toBeDefined();
    expect(await daemon.sessions()).toContain('my-desk');
  });
});

/** Starts the program in a terminal of a person’s own, told to work by hand; there is a fiber `desk` for it to claim. */
async function startByHand(one: RealDaemon, name: HarnessName): Promise<void> {
  await one.svc('setup', name);
  await one.svc('fiber', 'add', 'Desk', '--slug', 'desk', '--store', one.store, '--body', 'By hand.');
  const shell = one.personalShell();
  await one.tmux('new-session', '-d', '-s', 'my-desk', '-c', one.project_dir, ...shell);
  const programs: Record<HarnessName, string> = {
    claude: `claude --model sonnet --permission-mode auto --allowedTools 'Bash(svc claim:*)' 'Bash(svc handoff:*)' -- 'Work by hand.'`,
    codex: `codex -a never -s danger-full-access -c features.daemon_auto_start=false -c check_for_update_on_startup=false -c allow_login_shell=false 'Work by hand.'`,
    pi: `pi 'Work by hand.'`,
  };
  await one.tmux('send-keys', '-t', '=my-desk:', programs[name], 'Enter');
}
