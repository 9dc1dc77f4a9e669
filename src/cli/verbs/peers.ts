import { readSettings } from '../../config/settings.ts';
import { type Peers, peersSchema } from '../../contract/http/peers.ts';
import { formatTable } from '../command-line/output.ts';
import { defineVerb } from '../command-line/verb.ts';
import { connectDaemon } from '../daemon-client/client.ts';

/** `svc peers`: the sessions of all hosts that can be written to (RPL-15). */
export const verb = defineVerb({
  summary: 'List the sessions of all hosts that can be written to',
  examples: [['svc peers', 'the addresses for svc send']],
  page: 'messages.md',
  json: peersSchema,
  async run(context) {
    const peers = await (await connectDaemon(readSettings(context.env))).get('/peers', peersSchema);
    return { json: peers, text: peersPage(peers, context.width) };
  },
});

function peersPage({ sessions, gaps }: Peers, width: number): string {
  const table = formatTable(
    ['fiber', 'phase', 'address'],
    sessions.map(({ fiber, phase, address }) => [fiber, phase, address]),
    width,
  );
  const missing = gaps.map(
    ({ host, error, message }) => `The sessions of ${host} are not listed: ${message ?? error}\n`,
  );
  return [sessions.length === 0 ? 'No session runs.\n' : table, ...missing].join('');
}
