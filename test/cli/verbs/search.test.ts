import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { searchPage } from '../../../src/cli/verbs/search.ts';
import type { SearchReply } from '../../../src/contract/http/search.ts';
import { createMachine, type Machine, type StandIn, serveAnswers } from '../kit.ts';

let machine: Machine;
let server: StandIn | undefined;
beforeEach(() => {
  machine = createMachine();
});
afterEach(async () => {
  await server?.close();
  server = undefined;
  machine.remove();
});

const REPLY: SearchReply = {
  query: 'loader',
  terms: ['loader'],
  total: 3,
  complete: true,
  hits: [
    {
      id: 'work/loader',
      uid: null,
      store: '/srv/notes',
      path: '/srv/notes/.fibers/work/loader/loader.md',
      status: 'active',
      tags: [],
      score: 2.5,
      name: { text: 'Rewrite the loader', matches: [[12, 18]] },
      outcome: { text: 'It loads.', matches: [] },
      snippets: [{ text: '…the\nloader reads\u001b[31m…', matches: [[5, 11]], line: 7 }],
    },
  ],
};

async function serve(path: string, body: unknown, status = 200): Promise<void> {
  server = await serveAnswers({ [`GET ${path}`]: { status, body } });
  machine.writeDaemonFile([server.listen]);
}

describe('svc search', () => {
  it('[RPL-4] shows each hit with its matches, and their number', async () => {
    await serve('/search?query=loader', REPLY);
    const { code, out } = await machine.svc('search', 'loader');
    expect(code).toBe(0);
    expect(out).toBe(
      'work/loader (active)  Rewrite the loader\n  It loads.\n  7: …the loader reads\\u001b[31m…\n\n' +
        '3 fibers match; the best 1 are shown.\n',
    );
  });

  it('[RPL-4] keeps quoted words together, and sends the filters', async () => {
    await serve('/search?query=fonts+%22the+loader%22&limit=5&tag=a+b&status=open', {
      ...REPLY,
      complete: false,
    });
    const words = [
      'search',
      'fonts',
      'the loader',
      '--limit',
      '5',
      '--tag',
      'a b',
      '--status',
      'open',
      '--json',
    ];
    const { code, out } = await machine.svc(...words);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ total: 3, complete: false });
  });

  it('[RPL-4] tells a person of a fiber that runs that it does, and a program its status', () => {
    const standings = new Map([[REPLY.hits[0]!.path, 'running']]);
    expect(searchPage(REPLY, 80, standings)).toContain('work/loader (running)  Rewrite');
    expect(searchPage(REPLY, 80)).toContain('work/loader (ready to start)  Rewrite');
    expect(searchPage(REPLY, Number.POSITIVE_INFINITY, standings)).toContain('work/loader (active)');
  });

  it('[RPL-4] says when bodies are still unread, and prints a refusal', async () => {
    await serve('/search?query=loader', { ...REPLY, total: 1, complete: false });
    expect((await machine.svc('search', 'loader')).out).toContain('1 fiber matches. Some bodies');
    await server!.close();
    await serve('/search?query=x', { error: 'invalid_request', message: 'no word' }, 400);
    expect(await machine.svc('search', 'x')).toMatchObject({ code: 2, err: 'svc: no word\n' });
  });
});
