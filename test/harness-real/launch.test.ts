import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { HARNESS_NAMES } from '../../src/contract/harness-name.ts';
import { createCapabilities } from '../../src/harness/capabilities.ts';
import { programRunner, type RealHarness, startRealHarness } from './real-harness.ts';

let harness: RealHarness | undefined;
afterEach(async () => {
  await harness?.stop();
  harness = undefined;
});

const MARKER = '01KRUN0000000000000000MARK';
const PROMPT_TEXT = `You are a worker.\nRun: ${MARKER}\nFrom User:\nIt's "quoted" and $HOME \`cmd\` stays text.`;
const WITHIN_MS = 120_000;

const said = (text: string) => (request: { turns: { text: string }[] }) =>
  request.turns.some((turn) => turn.text.includes(text));

describe.each(HARNESS_NAMES)('the real %s', (name) => {
  it('starts in tmux with our prompt, runs a command unattended, and its transcript is found', async () => {
    harness = await startRealHarness(name);
    expect(await harness.adapter.checkFirstRun(harness)).toEqual([]);
    const proof = join(harness.project_dir, 'proof.txt');
    harness.stub.script({
      match: MARKER,
      steps: [{ shell: `echo done > ${proof}` }, { text: 'the work is finished' }],
    });
    const launched = await harness.launch(PROMPT_TEXT, MARKER, { effort: 'high' });
    await harness.stub.waitFor(said(MARKER), WITHIN_MS);
    const whole = await harness.stub.waitFor(said('stays text.'), WITHIN_MS);
    expect(whole.turns.map((turn) => turn.text).join('\n')).toContain(PROMPT_TEXT);
    const shown = harness.commandLines();
    expect(shown.length).toBeGreaterThan(0);
    for (const word of ['You are a worker', 'From User', 'stays text'])
      expect(shown.join('\n')).not.toContain(word);
    const found = await harness.transcript(launched, (text) => text.includes('the work is finished'));
    expect(existsSync(proof)).toBe(true);
    expect(found.path).toContain(found.session_uuid);
    if (name !== 'codex') expect(found.session_uuid).toBe(launched.plan.session_uuid);
    expect(found.text).toContain(MARKER);
  });

  it('continues a session under its old id, with its earlier messages', async () => {
    harness = await startRealHarness(name);
    harness.stub.script({ match: 'SECOND', steps: [{ text: 'and the second' }] });
    harness.stub.script({ match: MARKER, steps: [{ text: 'the first answer' }] });
    const first = await harness.launch(PROMPT_TEXT, MARKER);
    const before = await harness.transcript(first, (text) => text.includes('the first answer'));
    await harness.kill(first.session_name);

    const second = await harness.launch('Mode: resume\nSECOND', MARKER, { resume: before.session_uuid });
    expect(second.plan.session_uuid).toBe(before.session_uuid);
    const request = await harness.stub.waitFor(said('SECOND'), WITHIN_MS);
    expect(said(MARKER)(request)).toBe(true);
    const after = await harness.transcript(second, (text) => text.includes('and the second'));
    expect(after.path).toBe(before.path);
    expect(after.session_uuid).toBe(before.session_uuid);
  });

  it('ends with its terminal session: its running commands may finish, but the model gets no further request', async () => {
    harness = await startRealHarness(name);
    const begun = join(harness.project_dir, 'begun.txt');
    harness.stub.script({
      match: MARKER,
      steps: [{ shell: `echo > ${begun}; sleep 2` }, { text: 'too late' }],
    });
    const launched = await harness.launch(PROMPT_TEXT, MARKER);
    await harness.stub.waitFor(said(MARKER), WITHIN_MS);
    await expect.poll(() => existsSync(begun), { timeout: WITHIN_MS }).toBe(true);
    await harness.kill(launched.session_name);
    const asked = harness.stub.requests.length;
    await expect.poll(() => harness!.processes(), { timeout: 10_000 }).toEqual([]);
    expect(harness.stub.requests.length).toBe(asked);
  });

  it('distinguishes two launches in one folder', async () => {
    harness = await startRealHarness(name);
    harness.stub.script({ match: 'RUN-A', steps: [{ text: 'answer to A' }] });
    harness.stub.script({ match: 'RUN-B', steps: [{ text: 'answer to B' }] });
    const a = await harness.launch('Run: RUN-A', 'RUN-A');
    const b = await harness.launch('Run: RUN-B', 'RUN-B');
    const [of_a, of_b] = [
      await harness.transcript(a, (text) => text.includes('answer to A')),
      await harness.transcript(b, (text) => text.includes('answer to B')),
    ];
    expect(of_a.session_uuid).not.toBe(of_b.session_uuid);
    expect(of_a.text).not.toContain('answer to B');
  });
});

it('the real claude stores the sessions of a folder with a very long name where we search for them', async () => {
  harness = await startRealHarness('claude', { project: `${'long name/'.repeat(22)}end` });
  harness.stub.script({ match: MARKER, steps: [{ text: 'from far below' }] });
  const launched = await harness.launch(PROMPT_TEXT, MARKER);
  const found = await harness.transcript(launched, (text) => text.includes('from far below'));
  expect(found.session_uuid).toBe(launched.plan.session_uuid);
});

it('the real codex starts no server of its own and skips the update question', async () => {
  harness = await startRealHarness('codex', {
    prepare: ({ home }) =>
      writeFileSync(
        join(home, '.codex', 'version.json'),
        JSON.stringify({ latest_version: '99.0.0', last_checked_at: new Date().toISOString() }),
      ),
  });
  harness.stub.script({ match: MARKER, steps: [{ text: 'straight to work' }] });
  const launched = await harness.launch(PROMPT_TEXT, MARKER);
  await harness.transcript(launched, (text) => text.includes('straight to work'));
  expect(readdirSync(join(harness.home, '.codex'))).not.toContain('packages');
});

it('the real pi reports that it accepts a session id', async () => {
  harness = await startRealHarness('pi');
  let asked = 0;
  const capabilities = createCapabilities({
    env: harness.env,
    runner: {
      run(call) {
        asked += 1;
        return programRunner.run(call);
      },
    },
  });
  await capabilities.probe(harness.agent);
  await capabilities.probe(harness.agent);
  expect(asked).toBe(1);
  expect(capabilities.choosesSessionId(harness.agent)).toBe(true);
});
