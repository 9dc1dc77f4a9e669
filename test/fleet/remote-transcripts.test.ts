import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { CodedError } from '../../src/base/errors.ts';
import { createRemoteTranscripts } from '../../src/fleet/remote-transcripts.ts';

const A = '11111111-1111-4111-8111-000000000001';
const B = '11111111-1111-4111-8111-000000000002';
const URL_A = 'https://claude.ai/code/session_a';
let server: Server | undefined;
afterEach(() => server?.close());

/** A remote that gives one answer; what it was asked is kept. */
async function remote(body: unknown, status = 200, by = 'host-b') {
  const asked: string[] = [];
  const hops: unknown[] = [];
  server = createServer((request, response) => {
    asked.push(request.url ?? '');
    hops.push(request.headers['svc-hops']);
    response.writeHead(status, { 'Content-Type': 'application/json', 'Svc-Host': by });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    ...{ asked, hops },
    transcripts: createRemoteTranscripts({
      host: 'host-a',
      remoteAt: async (name) => ({ name, address: { url: `http://127.0.0.1:${port}` } }),
    }),
  };
}

const link = (session: string, more: object = {}) => ({
  session,
  availability: 'available_local',
  harness: 'claude',
  url: URL_A,
  ...more,
});

describe('the links of a remote', () => {
  it('[RPL-23] [RTE-4] are sanitised: in the requested order, without other sessions, without invalid addresses', async () => {
    const stranger = '11111111-1111-4111-8111-000000000009';
    const { asked, transcripts } = await remote({
      host: 'liar',
      links: [link(stranger), link(B, { url: 'https://evil.example/' }), link(A), { session: 5 }, 'junk'],
    });
    expect(await transcripts.links('host-b', [A, B, A], [])).toEqual({
      host: 'host-b',
      links: [link(A), link(B, { url: null }), link(A)],
    });
    expect(asked).toEqual([`/api/v1/sessions/links?host=host-b&sessions=${A},${B},${A}`]);
  });

  it.each([{ url: 7 }, { url: 'http://claude.ai/code/x' }, { url: { toString: 1 } }])(
    '[RPL-23] have no address of another shape: %o',
    async (more) => {
      const { transcripts } = await remote({ links: [link(A, more)] });
      expect((await transcripts.links('host-b', [A], [])).links).toEqual([link(A, { url: null })]);
    },
  );

  it('[RPL-14] are host_unreachable if the remote does not answer, answers wrongly, or omits a session', async () => {
    const unreachable = { session: A, availability: 'host_unreachable', harness: null, url: null };
    for (const [body, status] of [
      ['not json', 200],
      [{ error: 'booting' }, 503],
      [{ links: [] }, 200],
      [[], 200],
    ] as const) {
      const { transcripts } = await remote(body, status);
      expect((await transcripts.links('host-b', [A], [])).links, String(body)).toEqual([unreachable]);
      server!.close();
    }
    const unknown = createRemoteTranscripts({
      host: 'host-a',
      remoteAt() {
        throw new CodedError('unknown_host', 'No host "host-z" is known here');
      },
    });
    expect((await unknown.links('host-z', [A], [])).links).toEqual([unreachable]);
  });
});

describe('the receipt of a remote', () => {
  const receipt = {
    session: A,
    availability: 'available_local',
    host: 'its-own-name',
    harness: 'claude',
    source_path: '/home/a/t.jsonl',
    byte_count: 3,
    sha256: 'ab',
  };

  it('[RPL-12] [REC-5] reports an existing transcript, with the name that this host uses for the remote', async () => {
    const { asked, transcripts } = await remote(receipt);
    expect(await transcripts.transcript('host-b', A, [])).toEqual({
      ...receipt,
      availability: 'available_remote',
      host: 'host-b',
    });
    expect(asked).toEqual([`/api/v1/transcript?host=host-b&session=${A}`]);
  });

  it('[RPL-12] [RTE-4] is not taken from another host, and tells each host the way that it was asked', async () => {
    const other = await remote(receipt, 200, 'host-x');
    expect((await other.transcripts.transcript('host-b', A, ['host-z'])).availability).toBe(
      'host_unreachable',
    );
    expect(other.hops).toEqual(['host-z, host-a']);
  });

  it('[RPL-12] reports a missing one, and is host_unreachable without a valid answer', async () => {
    const missing = await remote({ ...receipt, availability: 'transcript_missing' });
    expect((await missing.transcripts.transcript('host-b', A, [])).availability).toBe('transcript_missing');
    server!.close();
    const other = await remote({ ...receipt, session: B });
    expect(await other.transcripts.transcript('host-b', A, [])).toMatchObject({
      session: A,
      availability: 'host_unreachable',
      sha256: null,
    });
  });
});
