import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import {
  checkRemote,
  presentBuild,
  type SeenByDaemon,
} from '../../../../src/cli/verbs/remotes/check-remote.ts';
import { versionAnswer } from '../../answers.ts';
import { whileAnswering } from './while-answering.ts';

const OWN = { version: '0.1.0', git_short_sha: 'abc1234' };
const SURROUNDINGS = {
  ...{ env: {}, ssh: null, own: OWN, host: 'host-a' },
  runner: { run: () => Promise.reject(new Error('nothing is run')) },
};
const seen = (state: 'answers' | 'no_answer'): SeenByDaemon => {
  const reach = { state, since: 1, last_ok_at: 1, error: null };
  const build = { ...OWN, booted_at: '2026-01-01T00:00:00.000Z', ready: true };
  return async (name) => (name === 'host-b' ? { reach, build: state === 'answers' ? build : null } : null);
};

/** An address where nobody listens. */
async function nowhere(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}

describe('the check of a remote', () => {
  it('takes the word of the daemon here for a url that the command cannot reach, as one of the tailnet', async () => {
    const url = await nowhere();
    const findings = await checkRemote({ name: 'host-b', url }, SURROUNDINGS, seen('answers'));
    expect(findings.map(({ level }) => level)).toEqual(['ok', 'ok', 'ok']);
    expect(JSON.stringify(findings)).toContain('answers the daemon of this host');
  });

  it.each([
    ['the daemon here has no answer of it either', 'host-b', seen('no_answer')],
    ['no daemon here knows it', 'host-c', seen('answers')],
  ])('fails where %s', async (_, name, seenByDaemon) => {
    const findings = await checkRemote({ name, url: await nowhere() }, SURROUNDINGS, seenByDaemon);
    expect(findings).toMatchObject([{ level: 'fail' }]);
    expect(JSON.stringify(findings)).toContain('ECONNREFUSED');
  });
});

describe('the check of a remote whose address leads to another host', () => {
  const fixOf = (host: string) =>
    whileAnswering(versionAnswer({ host }), async (url) => {
      const findings = await checkRemote({ name: 'host-b', url }, SURROUNDINGS, seen('no_answer'));
      return findings.at(-1);
    });

  it('names the name that it should have', async () => {
    expect(await fixOf('host-x')).toMatchObject({
      what: expect.stringContaining('leads to host-x, so'),
      mend: expect.stringMatching(/svc remotes rm host-b, then svc remotes add host-x$/),
    });
  });

  it('proposes no entry for this host', async () => {
    expect(await fixOf('host-a')).toMatchObject({
      what: expect.stringContaining('leads to this host, host-a, so'),
      mend: 'correct the address, or remove the entry: svc remotes rm host-b',
    });
  });
});

describe('a remote that refuses', () => {
  const REFUSALS = [
    ['AUT-2', { error: 'peer_refused', reason: 'peer uid 7, daemon uid 8' }, 'peer uid 7', /as the user/],
    ['ERR-8', { error: 'forbidden_host', message: 'Add it to SVC_ALLOWED_HOSTS.' }, 'Add it to', /on host-b/],
  ] as const;

  it.each(REFUSALS)('[%s] is said to refuse, in its own words', (_, told, said, mend) =>
    whileAnswering(
      told,
      async (url) => {
        const findings = await checkRemote({ name: 'host-b', url }, SURROUNDINGS, seen('no_answer'));
        expect(findings).toEqual([
          {
            ...{ level: 'fail', name: 'daemon' },
            what: expect.stringContaining(`refuses this host: ${said}`),
            mend: expect.stringMatching(mend),
          },
        ]);
        const pinned = presentBuild({ name: 'host-b', url }, seen('no_answer'), '');
        await expect(pinned).rejects.toMatchObject({
          code: told.error,
          message: expect.stringContaining(said),
        });
      },
      403,
    ),
  );
});

describe('the build of a remote that is to be pinned', () => {
  it('is that of the daemon at its address, else what the daemon here knows of it', async () => {
    const there = versionAnswer({ host: 'host-b', git_short_sha: 'b1b1b1b' });
    const asked = (url: string) => presentBuild({ name: 'host-b', url }, seen('answers'), '');
    expect(await whileAnswering(there, asked)).toBe('b1b1b1b');
    expect(await asked(await nowhere())).toBe('abc1234');
  });

  it.each([
    [
      'another host answers',
      versionAnswer({ host: 'host-x' }),
      'misdirected',
      /leads to host-x; nothing was written/,
    ],
    ['it is no daemon', { hello: 1 }, 'remote_unreachable', /not a daemon of this kind; nothing was written/],
    [
      'it has none',
      versionAnswer({ host: 'host-b', git_short_sha: 'unknown' }),
      'invalid_config',
      /does not know of which build/,
    ],
  ])('is refused where %s', async (_, told, code, says) => {
    const asked = (url: string) => presentBuild({ name: 'host-b', url }, seen('no_answer'), '');
    await expect(whileAnswering(told, asked)).rejects.toMatchObject({
      code,
      message: expect.stringMatching(says),
    });
  });

  it('is refused where nobody answers', async () => {
    const asked = presentBuild({ name: 'host-b', url: await nowhere() }, seen('no_answer'), '');
    await expect(asked).rejects.toMatchObject({ code: 'remote_unreachable' });
  });
});
