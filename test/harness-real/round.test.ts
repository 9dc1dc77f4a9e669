import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { HARNESS_NAMES, type HarnessName } from '../../src/contract/harness-name.ts';
import type { Step } from '../kit/stub-model/script.ts';
import type { ModelRequest } from '../kit/stub-model/stub-model.ts';
import { type RealDaemon, startRealDaemon, WITHIN_MS } from './real-daemon.ts';

let daemon: RealDaemon | undefined;
afterEach(async () => {
  await daemon?.stop();
  daemon = undefined;
});

const FRESH = /^Previous session: /m;
const saidExactly = (text: string) => (request: ModelRequest) =>
  request.turns.some((turn) => turn.from === 'user' && turn.text === text);

/** The handoff, with another command of the same run still at work. */
const LAST_COMMANDS: Record<HarnessName, Step[]> = {
  claude: [{ shell: 'sleep 600', background: true }, { shell: 'svc handoff' }],
  codex: [{ shell: 'sleep 600', background: true }, { shell: 'svc handoff' }],
  pi: [{ shell: 'sleep 600 & svc handoff' }],
};

/** The API tells where the program wrote the session down, and gives its very bytes. */
async function transcriptIsServed(real: RealDaemon, harness: HarnessName, session: string): Promise<void> {
  const path = await real.transcriptPathOf(session);
  const receipt = await (await real.get(`/transcript?session=${session}`)).json();
  expect(receipt).toMatchObject({ availability: 'available_local', harness, source_path: path });
  const raw = await real.get(`/transcript/raw?session=${session}`);
  const bytes = Buffer.from(await raw.arrayBuffer());
  expect(raw.headers.get('X-Transcript-Byte-Count')).toBe(String(bytes.length));
  expect(raw.headers.get('X-Transcript-SHA256')).toBe(createHash('sha256').update(bytes).digest('hex'));
  expect(bytes.length).toBeGreaterThan(0);
  expect(readFileSync(path).subarray(0, bytes.length).equals(bytes)).toBe(true);
  const { links } = (await (await real.get(`/sessions/links?sessions=${session}`)).json()) as {
    links: unknown[];
  };
  expect(links).toEqual([{ session, availability: 'available_local', harness, url: null }]);
}

describe.each(HARNESS_NAMES)('a round of the real %s', (name) => {
  it('[DSP-2] [PRM-1] [PRM-5] [PRM-8] [RES-2] [RPL-12] [RPL-13] [RPL-14] [P1] starts, works, hands off with its own shell and starts fresh', async () => {
    daemon = await startRealDaemon(name);
    const { stub, project_dir } = daemon;
    const begun = join(project_dir, 'begun');
    stub.script({ match: FRESH, steps: [{ text: 'and on' }] });
    stub.script({
      match: 'Fiber: round',
      steps: [
        { shell: `pwd > ${begun}-1` },
        { shell: `while [ ! -e ${begun}-go ]; do sleep 0.1; done` },
        ...LAST_COMMANDS[name],
        { text: 'too late' },
      ],
    });
    await daemon.arm('round');
    const held = await daemon.rowWhere('round', ({ held }) => held !== undefined);
    expect(held).toMatchObject({ held: 'boot_quarantine', status: 'active' });
    expect(daemon.launches()).toEqual([]);
    await daemon.release();

    const first = await daemon.launch(0);
    await stub.waitFor(saidExactly(first.prompt), WITHIN_MS);
    expect(first.prompt).not.toMatch(FRESH);
    const named = [...first.prompt.matchAll(/^(?:Skill \S+|Store): (\/.*)$/gm)].map(([, path]) => path!);
    expect(named.map((path) => existsSync(path))).toEqual([true, true, true]);
    const running = await daemon.rowWhere('round', ({ runtime }) => runtime?.state === 'running');
    expect(running.runtime).toMatchObject({ harness: name, mux_session: `round-${running.uid}-svc` });
    expect(await daemon.sessions()).toContain(`round-${running.uid}-svc`);
    await expect.poll(() => existsSync(`${begun}-1`), { timeout: WITHIN_MS }).toBe(true);
    expect(readFileSync(`${begun}-1`, 'utf8')).toBe(`${project_dir}\n`);

    const session_uuid = running.runtime!.session_uuid!;
    expect(running.svc?.runtime).toMatchObject({ session_uuid, run_id: first.run_id, harness: name });
    expect(await daemon.transcriptOf(session_uuid)).toContain(first.run_id);
    await transcriptIsServed(daemon, name, session_uuid);
    expect(daemon.ledger().filter(({ run_id }) => run_id === first.run_id)).toMatchObject(
      name === 'codex'
        ? [
            { kind: 'dispatch', session: null },
            { kind: 'learned', session: session_uuid },
          ]
        : [{ kind: 'dispatch', session: session_uuid }],
    );

    writeFileSync(`${begun}-go`, '');
    const second = await daemon.launch(1);
    expect(await daemon.endOf(first)).toBe('handoff');
    expect(await daemon.goneProcessesOf(first)).toEqual([]);
    const judged = stub.requests
      .flatMap((request) => request.turns)
      .filter(({ text }) => text.startsWith('Bash svc'));
    expect(judged).toEqual([]);

    await stub.waitFor(saidExactly(second.prompt), WITHIN_MS);
    expect(second.prompt.split('\n')).toContain(`Previous session: ${session_uuid} (${name})`);
    const again = await daemon.rowWhere(
      'round',
      ({ runtime }) => runtime?.run_id === second.run_id && runtime.state === 'running',
    );
    expect(again.runtime!.session_uuid).not.toBe(session_uuid);
    expect(again.svc!.runtime!.session_uuid).toBe(again.runtime!.session_uuid);
    const { dispatched_at, handed_off_at } = again.svc!.runtime!;
    expect(Date.parse(handed_off_at!)).toBeGreaterThan(first.dispatched_at);
    expect(Date.parse(dispatched_at!)).toBeGreaterThan(Date.parse(handed_off_at!));
  });
});
