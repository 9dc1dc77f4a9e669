import { type Receipt, receiptSchema } from '../../src/contract/http/messages.ts';
import { until } from '../kit/until.ts';
import { type RealDaemon, WITHIN_MS } from './real-daemon.ts';

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
  const send = async (id: string, text: string): Promise<Receipt> =>
    receiptSchema.parse(JSON.parse(await one.svc('send', fiber, text, '--id', id, '--json')));
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
  const lines = (await one.transcriptOf(session))
    .split('\n')
    .filter((line) => line.includes(`[message ${id} from `));
  // Codex writes each message of the user twice: as a record of the model and as an item of the thread.
  const said = lines.filter((line) => /"role":"user"/.test(line) || /"queued_command"/.test(line));
  return said.length;
}
