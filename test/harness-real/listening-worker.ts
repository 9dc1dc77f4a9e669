import { type Receipt, receiptSchema } from '../../src/contract/http/messages.ts';
import { pause, until } from '../kit/until.ts';
import { type RealDaemon, WITHIN_MS } from './real-daemon.ts';

type Listening = Awaited<ReturnType<typeof listening>>;

/** An idle worker of a fiber of its own, its session, and what is sent to it. */
export async function listening(one: RealDaemon, fiber = 'listens') {
  one.stub.script({ match: `Fiber: ${fiber}`, steps: [{ text: 'Ready.' }] });
  one.stub.script({ match: 'Please', steps: [{ text: 'Understood.' }] });
  await one.arm(fiber);
  await one.release();
  const row = await one.rowWhere(fiber, ({ runtime }) => runtime?.session_uuid != null);
  const session = row.runtime!.session_uuid!;
  const mux = row.runtime!.mux_session!;
  const isReady = async () => (await one.transcriptOf(session).catch(() => '')).includes('Ready.');
  await until(`${fiber} is idle`, isReady, WITHIN_MS);
  const { harness } = one.launches().find((launch) => launch.fiber.includes(fiber))!;
  const address = `svc://test-host/${harness}/${session}`;
  const send = async (message_id: string, text: string): Promise<Receipt> =>
    receiptSchema.parse((await one.post('/messages', { address, message_id, text, from: 'ada' })).body);
  /** Asks again until the receipt has one of these stages. */
  const reaches = (id: string, text: string, stages: RegExp) =>
    until(`the receipt of ${id}`, async () => stages.test((await send(id, text)).status), WITHIN_MS);
  /** Waits until its terminal shows a text. */
  const shows = async (text: string | RegExp) => {
    const isShown = (screen: string) =>
      typeof text === 'string' ? screen.includes(text) : text.test(screen);
    await until(`the terminal shows ${text}`, async () => isShown(await one.screen(mux)), WITHIN_MS);
  };
  const press = (...keys: string[]) => one.tmux('send-keys', '-t', `=${mux}:`, ...keys);
  return { fiber, session, mux, send, reaches, shows, press };
}

/** How often a message is in the conversation as something that was said to the agent. */
export async function timesGiven(one: RealDaemon, session: string, id: string): Promise<number> {
  return (await linesSaid(one, session, id)).length;
}

/** The lines of the conversation that say a message to the agent. */
export async function linesSaid(one: RealDaemon, session: string, id: string): Promise<string[]> {
  const lines = (await one.transcriptOf(session)).split('\n');
  // Codex writes each message of the user twice: as a record of the model and as an item of the thread.
  const said = lines.filter(
    (line) => line.includes(`[message ${id} (`) && /"role":"user"|"queued_command"/.test(line),
  );
  // What Claude Code asked the model, which it may keep beside what was said.
  return said.filter((line) => !/^\{"type":"api-request-/.test(line));
}

/** How often the daemon is killed in the middle. */
const KILLS = 3;

/** Sends messages while the daemon is killed again and again, until each receipt agrees with the conversation. */
export async function sendThroughKills(
  one: RealDaemon,
  { session, send }: Pick<Listening, 'session' | 'send'>,
  ids: readonly string[],
): Promise<void> {
  let sent = 0;
  /** The same id again until a daemon answers it. */
  const sendThrough = (id: string) =>
    until(`an answer for ${id}`, () => send(id, `Please do ${id}.`).catch(() => null), WITHIN_MS);
  const kills = async () => {
    for (let kill = 0; kill < KILLS; kill += 1) {
      const before = sent;
      await Promise.race([
        pause(200 + 370 * kill),
        until('a message was sent', () => sent > before, WITHIN_MS).catch(() => undefined),
      ]);
      await one.killAndRestart();
    }
  };
  const writes = async () => {
    for (const id of ids) {
      await sendThrough(id);
      sent += 1;
    }
  };
  await Promise.all([kills(), writes()]);
  for (const id of ids) {
    const agrees = async () => agreement(await sendThrough(id), await timesGiven(one, session, id));
    await untilAgreed(id, agrees);
  }
}

/** Waits until a receipt agrees with the conversation. */
export async function untilAgreed(id: string, agreement: () => Promise<string>): Promise<void> {
  let last = '';
  await until(
    `the agreement of ${id} with the conversation`,
    async () => {
      last = await agreement();
      return last === 'agrees';
    },
    WITHIN_MS,
  ).catch((error) => {
    throw new Error(`${error.message}: ${last}`);
  });
}

/** What a receipt that will not change claims, against how often the message is in the conversation. */
export function agreement({ status, transport }: Receipt, times: number): string {
  const is_known = status === 'submitted' || status === 'accepted';
  if (transport === 'held') return 'held';
  // One that was cut off, or queued in a program that ended, stays so if the text never arrived.
  return times === (is_known ? 1 : 0) ? 'agrees' : `${status}, ${times} times`;
}
