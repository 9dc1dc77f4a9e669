import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { newNonce } from '../../src/base/nonce.ts';
import { HARNESS_NAMES, type HarnessName } from '../../src/contract/harness-name.ts';
import { textForAgent } from '../../src/contract/message-text.ts';
import type { MessageStage } from '../../src/harness/harness.ts';
import { HARNESSES } from '../../src/harness/harnesses.ts';
import type { JsonRecord } from '../../src/harness/transcripts/said.ts';
import { composerShows, KeptDrafts } from '../../src/messages/kept-drafts.ts';
import { newRecord } from '../../src/messages/message-record.ts';
import { createPaneInput } from '../../src/mux/pane-input.ts';
import { createRunner } from '../../src/platform/process.ts';
import { createProcessFacts } from '../../src/platform/process-facts.ts';
import { CODEX_ASKS, DIALOG, writeAskingSettings } from './dialogs.ts';
import { type StartOptions, startRealHarness } from './real-harness.ts';

const WITHIN = { timeout: 60_000, interval: 20 };
/** Long enough to type a message while a command is at work. */
const WORK_MS = 10_000;

/** An idle session of the real program, for one test. */
async function startSession(
  { expect, onTestFinished }: TestContext,
  name: HarnessName,
  options: StartOptions = {},
) {
  const one = await startRealHarness(name, options);
  onTestFinished(() => one.stop());
  const { stub, tmux } = one;
  const program = HARNESSES[name].messages;
  const { readScreen, stageOf } = program;
  const launched = await one.launch('hello', 'a-launch');
  const pane = `=${launched.session_name}:`;
  const { path } = await one.transcript(launched, (text) => text.includes('ok'));
  const [id = '', pane_id = '', pid] = (
    await tmux('display-message', '-p', '-t', pane, '#{session_id} #{pane_id} #{pane_pid}')
  )
    .trim()
    .split(' ');
  const target = { id, name: launched.session_name, pane: { id: pane_id, pid: Number(pid) } };
  const runner = createRunner();
  const input = createPaneInput({
    tmux: 'tmux',
    socket: (await tmux('display-message', '-p', '#{socket_path}')).trim(),
    env: process.env,
    runner,
    clock: systemClock,
    facts: createProcessFacts({ platform: process.platform, runner }),
    platform: process.platform,
    deadline_ms: 10_000,
  });
  let shown = '';
  const screen = async () => {
    shown = (await input.screen(target.pane)) ?? '';
    return readScreen(shown);
  };
  const shows = (state: string) =>
    expect
      .poll(screen, WITHIN)
      .toBe(state)
      .catch((error: Error) => {
        throw new Error(`${error.message}\n${shown}`);
      });
  const drafts = new KeptDrafts({
    clock: systemClock,
    logger: silentLogger,
    target: async () => ({
      ...{ kind: 'running', fiber_id: 'work/loader', uid: 'u', surface: 'cli', mux: target },
      ...{ app: null, transcript: path },
    }),
    composer: async (_, terminal, text) => composerShows(program, await input.screen(terminal.pane), text),
    pressEnter: (terminal) => input.pressEnter(terminal.pane),
  });
  onTestFinished(() => drafts.stop());
  stub.script({ match: 'plain', steps: [{ text: 'understood' }] });
  await shows('ready');

  return {
    shows,
    target,
    stub,
    tmux,
    project_dir: one.project_dir,
    press: (...keys: string[]) => tmux('send-keys', '-t', pane, ...keys),
    /** Types a message where the program takes one; `stages` are those that its transcript has shown so far. */
    async send(message_id: string, body: string) {
      const message = { message_id, address: `svc://here/${name}/s`, from: 'work/loader', text: body };
      const record = newRecord(
        { ...message, wake: true, files: [] },
        { files: [], nonce: newNonce(), now: Date.now() },
      );
      const text = textForAgent(record);
      const offset = statSync(path).size;
      await shows('ready');
      expect(await input.paste(target.pane, text)).toEqual({ kind: 'pasted' });
      drafts.watch(record);
      const records = () => {
        const lines = readFileSync(path).subarray(offset).toString().split('\n').slice(0, -1);
        return lines.map((line) => JSON.parse(line) as JsonRecord);
      };
      const stage = (of = message_id) => stageOf(records(), `[message ${of} `);
      /** The stages that the transcript has shown, one record after the other. */
      const stages = () => {
        const all = records();
        return all.map((_, at) => stageOf(all.slice(0, at + 1), `[message ${message_id} `));
      };
      const reaches = (one: MessageStage) => expect.poll(stages, WITHIN).toContain(one);
      return { text, stage, reaches };
    },
    /** How often the last request of a turn holds a message, in whatever form the program passes it on. */
    timesGiven(text: string) {
      const { body } = stub.requests.filter(({ tools }) => tools.length > 0).at(-1)!;
      return body.split(JSON.stringify(text.trim()).slice(1, -1)).length - 1;
    },
  };
}

describe.each(HARNESS_NAMES)('a message typed into the real %s', (name) => {
  it.concurrent('starts a turn of an idle session, once, byte by byte, short or of 50 kB', async (test) => {
    const { expect } = test;
    const session = await startSession(test, name);
    const short = await session.send('s-1', 'plain: “grüße” 漢字\n\n  $(touch x) `y` @nobody\n/nosuch !x');
    await short.reaches('accepted');
    expect(session.timesGiven(short.text)).toBe(1);
    const long = await session.send('l.1', `plain\n${'a line of a long text\n'.repeat(2_300)}the end`);
    await long.reaches('accepted');
    expect(session.timesGiven(long.text)).toBe(1);
    const wide = await session.send('w_1', `plain ${'word '.repeat(10_000)}end`);
    await wide.reaches('accepted');
    expect(session.timesGiven(wide.text)).toBe(1);
    await session.shows('ready');
  });

  // The others take Enter with a paste wherever it comes from.
  it.runIf(name === 'claude').concurrent(
    'is sent where its keyboard is its standard input, as a person starts it',
    async (test) => {
      const { expect } = test;
      const session = await startSession(test, name, { agent: { prompt: 'argument' } });
      for (const [id, body] of [
        ['i-1', 'plain'],
        ['i-2', `plain\n${'a line\n'.repeat(40)}the end`],
        ['i-3', `plain ${'word '.repeat(1_000)}end`],
      ] as const) {
        const message = await session.send(id, body);
        await message.reaches('accepted');
        expect(session.timesGiven(message.text)).toBe(1);
      }
    },
  );

  it.concurrent('joins or follows a call of the model, also if two are sent', async (test) => {
    const { expect } = test;
    const session = await startSession(test, name);
    const typed = Promise.withResolvers<void>();
    session.stub.script({ match: 'think', steps: [{ text: 'thought', after: typed.promise }] });
    const busy = await session.send('b1', 'think');
    await session.stub.waitFor(({ turns }) => turns.some(({ text }) => text === busy.text), 60_000);
    const first = await session.send('m1', 'plain one');
    const second = await session.send('m2', 'plain two');
    if (name === 'claude') {
      await first.reaches('queued');
      await second.reaches('queued');
    }
    typed.resolve();
    await busy.reaches('accepted');
    await first.reaches('accepted');
    await second.reaches('accepted');
    await session.shows('ready');
    expect([first, second].map(({ text }) => session.timesGiven(text))).toEqual([1, 1]);
  });

  it.concurrent('is taken after the command that runs', async (test) => {
    const { expect } = test;
    const session = await startSession(test, name);
    const began = join(session.project_dir, 'began');
    const shell = `touch began && sleep ${WORK_MS / 1000}`;
    session.stub.script({ match: 'run it', steps: [{ shell }, { text: 'ran' }] });
    const busy = await session.send('b1', 'run it');
    await expect.poll(() => existsSync(began), WITHIN).toBe(true);
    await busy.reaches('accepted');
    const message = await session.send('m1', 'plain');
    if (name === 'claude') await message.reaches('queued');
    await message.reaches('accepted');
    await session.shows('ready');
    expect(session.timesGiven(message.text)).toBe(1);
  });

  it.concurrent('waits while a dialog is open', async (test) => {
    const { expect } = test;
    const session = await startSession(test, name, {
      prepare: ({ home }) => writeAskingSettings(name, home),
      ...(name === 'codex' ? { agent: { args: CODEX_ASKS } } : {}),
    });
    session.stub.script({ match: 'ask first', steps: [DIALOG[name].step, { text: 'asked' }] });
    const asks = await session.send('a1', 'ask first');
    await session.shows('dialog');
    await session.press('Enter');
    await asks.reaches('accepted');
    const message = await session.send('m1', 'plain');
    await message.reaches('accepted');
    expect(session.timesGiven(message.text)).toBe(1);
  });

  it.concurrent('waits while a person has a draft, a list of commands or a menu open', async (test) => {
    const { expect } = test;
    const session = await startSession(test, name);
    await session.press('-l', 'my draft');
    await session.shows('draft');
    await session.press(...Array(8).fill('BSpace'));
    await session.shows('ready');
    await session.press('-l', '/mod');
    await session.shows('dialog');
    await session.press(...Array(4).fill('BSpace'));
    const message = await session.send('m1', 'plain');
    await message.reaches('accepted');
    expect(session.timesGiven(message.text)).toBe(1);
  });

  it.concurrent('reaches a session in whose terminal a person scrolls', async (test) => {
    const { expect } = test;
    const session = await startSession(test, name);
    await session.tmux('copy-mode', '-t', `${session.target.id}:`);
    const message = await session.send('m1', 'plain\nin\nlines');
    await message.reaches('accepted');
    expect(session.timesGiven(message.text)).toBe(1);
    const mode = await session.tmux('display-message', '-p', '-t', `${session.target.id}:`, '#{pane_mode}');
    expect(mode).toBe('copy-mode\n');
  });

  it.concurrent('is not proven by a model that refuses it, nor by one that repeats it', async (test) => {
    const { expect } = test;
    const session = await startSession(test, name);
    session.stub.refuse({
      status: 400,
      headers: {},
      body: { error: { type: 'invalid_request_error', message: 'no' } },
    });
    const refused = await session.send('r1', 'plain');
    await refused.reaches('submitted');
    await session.shows('ready');
    expect(refused.stage()).toBe('submitted');
    session.stub.refuse(null);
    session.stub.script({ match: 'repeat', steps: [{ text: '[message r2 from work/loader]\nplain' }] });
    const repeats = await session.send('r3', 'repeat');
    await repeats.reaches('accepted');
    expect(repeats.stage('r2')).toBeNull();
  });
});
