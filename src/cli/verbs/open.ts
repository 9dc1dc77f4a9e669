import { hostname, userInfo } from 'node:os';
import { z } from 'zod';
import { CodedError } from '../../base/errors.ts';
import { readSettings } from '../../config/settings.ts';
import { findUrlOpener, openUrl } from '../../platform/open-url.ts';
import { option } from '../command-line/options.ts';
import { defineVerb, EXIT } from '../command-line/verb.ts';
import { boardAddress } from '../daemon-client/board-address.ts';
import { connectDaemon } from '../daemon-client/client.ts';

/** `svc open`: shows the board in the browser of the person at this machine, or says how to reach it. */
export const verb = defineVerb({
  summary: 'Open the board in your browser',
  options: { print: option('--print', 'only print its address') },
  examples: [
    ['svc open', 'opens the board of the running daemon'],
    ['svc open --print', 'prints its address'],
  ],
  note: 'On a machine without a browser it prints the ssh command that brings the board to yours.',
  page: 'board.md',
  json: z.object({ url: z.string(), opened: z.boolean() }),
  exits: { 1: 'no browser could be opened; the address and what to do are printed' },
  async run({ env }, { print }) {
    const { daemon } = await connectDaemon(readSettings(env));
    const url = boardAddress(daemon.listen);
    if (url === null)
      throw new CodedError(
        'invalid_config',
        `the daemon listens on ${daemon.listen.join(', ')} alone, which no browser opens; add 127.0.0.1:4000 to SVC_LISTEN and run: svc daemon restart`,
      );
    if (print === true) return { json: { url, opened: false }, text: `${url}\n` };
    const opener = await findUrlOpener({ platform: process.platform, env });
    if (opener !== null && (await openUrl(opener, url, { env })))
      return { json: { url, opened: true }, text: `Opened ${url}\n` };
    const why = opener === null ? 'No browser can be opened from here.' : `${opener} could not open it.`;
    return {
      json: { url, opened: false },
      text: `${url}\n`,
      faults: [`${why} ${elsewhere(url)}`],
      exit: EXIT.refused,
    };
  },
});

/** How a browser of another machine reaches a board that listens on this one alone. */
function elsewhere(url: string): string {
  const { host, port } = new URL(url);
  const from = port === '' ? '80' : port;
  return `On this machine open ${url} in one. On another machine run this there, then open http://127.0.0.1:${from}/ on it: ssh -N -L ${from}:${host} ${userInfo().username}@${hostname()}`;
}
