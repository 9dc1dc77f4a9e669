import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CodedError } from '../../src/base/errors.ts';
import { rehearsal } from '../../src/contract/http/rehearsal.ts';
import { type ServedRoutes, serveRoutes } from './served-routes.ts';

const LINE = {
  fiber: 'a',
  uid: 'U',
  session: 's',
  thread_id: null,
  harness: 'pi',
  host: 'host-a',
  mux: 'm',
  at: 1,
  kind: 'dispatch',
};
const SSH = { alias: 'b-login', flags: ['-p', '22'] };
let served: ServedRoutes;
beforeEach(async () => {
  served = await serveRoutes();
  served.callers.poller.answers.open_terminal = ({ mux_session = 'resume-s' }: { mux_session?: string }) => ({
    mux_session,
    terminal: 'kitty',
  });
  served.callers.poller.answers.resume_session = () => ({ mux_session: 'resume-s', created: true });
  served.callers.ledgers.answers.lines_of_session = () => ({ lines: [LINE] });
  served.callers.fleet.answers.ssh_target = ({ host }: { host: string }) => {
    if (host === 'host-b') return SSH;
    throw new CodedError('unknown_host', `No host "${host}" is known here.`, { details: { origin: host } });
  };
  served.callers.fleet.answers.resume_session = () => ({ mux_session: 'resume-far', created: false });
});
afterEach(() => served.stop());

const attach = (body: unknown) => served.post('/api/v1/attach', body);

describe('POST /attach', () => {
  it('[WPL-21] opens a live worker of this host, named or not', async () => {
    for (const more of [{}, { shuttle_host: 'host-a' }]) {
      const answer = await attach({ mux_session: 'a-U-svc', ...more });
      expect(answer).toMatchObject({
        status: 200,
        json: { attached: true, host: 'host-a', mux_session: 'a-U-svc', terminal: 'kitty' },
      });
    }
    const input = { mux_session: 'a-U-svc', lines: [], host: 'host-a', ssh: null };
    const asked = { name: 'open_terminal', input };
    expect(served.callers.poller.asked).toEqual([asked, asked]);
    expect(served.callers.fleet.asked).toEqual([]);
  });

  it('[WPL-21] opens a live worker of another host by SSH, and refuses an unknown host', async () => {
    expect(await attach({ mux_session: 'w', shuttle_host: 'host-b' })).toMatchObject({
      status: 200,
      json: { host: 'host-b' },
    });
    expect(served.callers.poller.asked).toEqual([
      { name: 'open_terminal', input: { mux_session: 'w', lines: [], host: 'host-b', ssh: SSH } },
    ]);
    expect(await attach({ mux_session: 'w', shuttle_host: 'host-z' })).toMatchObject({
      status: 404,
      json: { error: 'unknown_host', origin: 'host-z' },
    });
    expect(served.callers.poller.asked).toHaveLength(1);
  });

  it('[WPL-21] [WPL-22] has a past session started by the host that ran it', async () => {
    expect((await attach({ session: 's' })).json).toMatchObject({ mux_session: 'resume-s' });
    expect(served.callers.poller.asked).toEqual([
      { name: 'open_terminal', input: { session: 's', lines: [LINE], host: 'host-a', ssh: null } },
    ]);
    expect((await attach({ session: 's', shuttle_host: 'host-b' })).json).toMatchObject({
      host: 'host-b',
      mux_session: 'resume-far',
    });
    expect(served.callers.fleet.asked.at(-1)).toEqual({
      name: 'resume_session',
      input: { host: 'host-b', session: 's' },
    });
    expect(served.callers.poller.asked.at(-1)).toEqual({
      name: 'open_terminal',
      input: { mux_session: 'resume-far', lines: [], host: 'host-b', ssh: SSH },
    });
  });

  it.each([
    ['session_running', 409],
    ['transcript_missing', 422],
    ['working_directory_unknown', 422],
    ['surface_unsupported', 422],
  ])('[ERR-15] [ERR-20] [WPL-21] answers %s with %i, and opens nothing', async (code, status) => {
    served.callers.poller.answers.open_terminal = () => {
      throw new CodedError(code, 'because');
    };
    expect(await attach({ session: 's' })).toMatchObject({ status, json: { error: code } });
    served.callers.fleet.answers.resume_session = () => {
      throw new CodedError(code, 'because');
    };
    const far = { session: 's', shuttle_host: 'host-b' };
    expect(await attach(far)).toMatchObject({ status, json: { error: code } });
    expect(served.callers.poller.asked).toHaveLength(1);
  });

  it('[WPL-21] returns the command to paste if no terminal is reachable', async () => {
    served.callers.poller.answers.open_terminal = () => {
      throw new CodedError('terminal_unreachable', 'no kitty', { details: { command: 'tmux attach' } });
    };
    expect(await attach({ mux_session: 'w' })).toMatchObject({
      status: 503,
      json: { error: 'terminal_unreachable', command: 'tmux attach' },
    });
  });

  it('[WPL-21] accepts either a live or a past session', async () => {
    for (const body of [{}, { mux_session: 'a', session: 'b' }, { mux_session: '' }])
      expect((await attach(body)).status).toBe(400);
    expect(served.callers.poller.asked).toEqual([]);
  });
});

it('[WPL-22] POST /sessions/resume starts or finds it on this host', async () => {
  const answer = await served.post('/api/v1/sessions/resume', { session: 's' });
  expect(answer).toMatchObject({ status: 200, json: { mux_session: 'resume-s', created: true } });
  expect(served.callers.ledgers.asked).toEqual([{ name: 'lines_of_session', input: { session: 's' } }]);
});

describe('a dry run', () => {
  const shown = rehearsal('do it');
  beforeEach(() => {
    served.callers.poller.answers.open_terminal = () => shown;
    served.callers.poller.answers.resume_session = () => shown;
  });

  it('[WPL-21] of an attach shows the command that would open it, and opens nothing', async () => {
    expect(await attach({ mux_session: 'w', dry_run: true })).toMatchObject({ status: 200, json: shown });
    await attach({ session: 's', dry_run: true });
    await attach({ session: 's', shuttle_host: 'host-b', dry_run: true });
    const asked = (input: object) => ({ name: 'open_terminal', input: { ...input, dry_run: true } });
    expect(served.callers.poller.asked).toEqual([
      asked({ mux_session: 'w', lines: [], host: 'host-a', ssh: null }),
      asked({ session: 's', lines: [LINE], host: 'host-a', ssh: null }),
      asked({ session: 's', lines: [], host: 'host-b', ssh: SSH }),
    ]);
    expect(served.callers.fleet.asked.map(({ name }) => name)).toEqual(['ssh_target']);
  });

  it('[WPL-22] of a past session includes its ledger lines', async () => {
    const answer = await served.post('/api/v1/sessions/resume', { session: 's', dry_run: true });
    expect(answer).toMatchObject({ status: 200, json: shown });
    expect(served.callers.poller.asked).toEqual([
      { name: 'resume_session', input: { session: 's', lines: [LINE], dry_run: true } },
    ]);
  });
});
