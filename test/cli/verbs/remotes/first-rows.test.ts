import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/base/clock.ts';
import { firstRows } from '../../../../src/cli/verbs/remotes/first-rows.ts';
import { toldRow } from '../../../fleet/told-feeds.ts';

let server: Server;
/** What it answers, one after the other; the last one again and again. */
let answers: object[];
beforeEach(async () => {
  server = createServer((_, response) => {
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
});
afterEach(() => new Promise((done) => server.close(done)));

const feed = (state: string, fibers: object[], host = 'host-b') => ({ host, state, generated_at: 7, fibers });
const told = () => {
  const { port } = server.address() as AddressInfo;
  return firstRows({ name: 'host-b', port }, systemClock, 80);
};

describe('the first fibers of a new host', () => {
  it('[WPL-18] are waited for until that host has read its stores', async () => {
    answers = [
      feed('cold', []),
      feed('fresh', [toldRow('far-away')], 'host-c'),
      feed('fresh', [toldRow('far-away')]),
    ];
    const first = await told();
    expect(first).toMatchObject({
      page: expect.stringMatching(/^host-b has 1 fiber, 0 at work\.\n\n.*\nfar-away\s+draft/),
    });
  });

  it('[WPL-18] are counted, and five of them shown, those that are open first', async () => {
    const closed = ['a', 'b', 'c'].map((id) => toldRow(id, { status: 'closed' }));
    answers = [feed('fresh', [...closed, ...['x', 'y', 'z'].map((id) => toldRow(id))])];
    const { page } = (await told()) as { page: string };
    expect(page).toContain('host-b has 6 fibers, 0 at work.');
    expect(
      page
        .trim()
        .split('\n')
        .slice(3)
        .map((line) => line.split(' ')[0]),
    ).toEqual(['x', 'y', 'z', 'a', 'b']);
  });
});
