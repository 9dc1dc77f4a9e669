import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fiberAnswer } from '../answers.ts';
import { type Answers, createMachine, type Machine, type StandIn, serveDaemon } from '../kit.ts';

const ADDRESS = 'svc://host-a/claude/s-1';
const RECEIPT = {
  message_id: 'm-1',
  address: ADDRESS,
  status: 'submitted',
  transport: 'terminal',
  detail: 'the conversation shows it as a turn of the user',
  at: 1,
};

let machine: Machine;
let seen: StandIn['seen'];
beforeEach(async () => {
  machine = createMachine();
  const files = [{ name: 'a.log', path: '/kept/a.log', sha256: 'x', size: 5 }];
  ({ seen } = await serveDaemon(machine, {
    'POST /messages': { body: RECEIPT },
    'POST /messages/files': { body: { ...RECEIPT, files } },
  }));
});
afterEach(() => machine.remove());

const write = (name: string, content: string | Uint8Array = `in ${name}`) => {
  writeFileSync(join(machine.folder, name), content);
  return name;
};
const send = (...more: string[]) =>
  machine.svc('send', ADDRESS, 'Look.', '--id', 'm-1', '--from', 'ada', ...more);

describe('svc send --file', () => {
  it('[WPL-24] [MSG-4] sends each file under the last part of its path, with its digest', async () => {
    mkdirSync(join(machine.folder, 'logs'));
    const paths = [write('logs/a.log', 'hello'), join(machine.folder, write('b.bin', Uint8Array.of(0, 255)))];
    const { code, out } = await send('--file', paths[0]!, '--file', paths[1]!);
    expect(code).toBe(0);
    expect(out).toContain('a.log is there as /kept/a.log\n');
    const sha256 = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest('hex');
    expect(seen).toEqual([
      {
        path: '/messages/files',
        body: {
          ...{ address: ADDRESS, text: 'Look.', from: 'ada', message_id: 'm-1' },
          attachments: [
            { name: 'a.log', data: 'aGVsbG8=', sha256: sha256('hello') },
            { name: 'b.bin', data: 'AP8=', sha256: sha256(Uint8Array.of(0, 255)) },
          ],
        },
      },
    ]);
  });

  it('takes the text after it, and is not needed', async () => {
    await machine.svc('send', ADDRESS, '--file', write('a.log'), 'Look.');
    expect(seen.at(-1)).toMatchObject({ path: '/messages/files', body: { text: 'Look.' } });
    await send();
    expect(seen.at(-1)).toMatchObject({ path: '/messages', body: { message_id: 'm-1' } });
    expect(seen.at(-1)?.body).not.toHaveProperty('attachments');
  });

  it('rehearses with --dry-run', async () => {
    await send('--file', write('a.log'), '--dry-run');
    expect(seen).toMatchObject([{ path: '/messages/files', body: { dry_run: true } }]);
  });

  it.each([
    ['a file that is not there', ['gone.log'], 'there is no file', 'check the path'],
    ['a folder', ['folder'], 'is a folder', 'only a regular file is read'],
    ['a device', ['/dev/zero'], '/dev/zero', 'only a regular file is read'],
    ['a name that not every system takes', ['a:b'], 'the name of a:b has one of', 'rename the file'],
    ['two files of one name', ['one.log', 'folder/ONE.log'], 'the name of folder/ONE.log is', 'rename one'],
    ['more than 20 MiB', ['one.log', 'large'], 'large the files have more than', 'name the path in the text'],
    ['nine files', Array(9).fill('one.log'), '9 files were given', 'send the others in another one'],
  ])('[MSG-4] [LIM-8] refuses %s with the fix, and sends nothing', async (_, files, why, mend) => {
    mkdirSync(join(machine.folder, 'folder'));
    for (const name of ['a:b', 'one.log', 'folder/ONE.log']) write(name);
    write('large', Buffer.alloc(20 * 1024 * 1024));
    const { code, err } = await send(...files.flatMap((path) => ['--file', path]));
    expect(code).not.toBe(0);
    expect(err).toContain(why);
    expect(err).toContain(mend);
    expect(seen).toEqual([]);
  });
});

describe('svc send --context', () => {
  it('[MSG-2] asks for no wake, and is content with a message that waits as context', async () => {
    await send('--context');
    expect(seen).toMatchObject([{ path: '/messages', body: { message_id: 'm-1', wake: false } }]);
    await send();
    expect(seen.at(-1)?.body).not.toHaveProperty('wake');
  });

  it.each([
    ['with', ['--context', '--wait', 'submitted'], 'queued, context_added'],
    ['without', ['--wait', 'context_added'], 'queued, submitted, accepted'],
  ])('[MDS-1] refuses a stage that a message %s it never has', async (_, options, stages) => {
    const { code, err } = await send(...options);
    expect(code).not.toBe(0);
    expect(err).toContain(`--wait takes ${stages}`);
    expect(seen).toEqual([]);
  });

  it.each([
    [{}, 0, 'claude/s-9'],
    // The next start begins a conversation of its own.
    [{ handed_off_at: '2026-01-01T00:00:00Z' }, 1, null],
  ])('is for the last conversation of a fiber without a worker: %j', async (more, code, address) => {
    const runtime = { session_uuid: 's-9', harness: 'claude', ...more };
    const fiber = fiberAnswer({ svc: { runtime } });
    ({ seen } = await serveDaemon(machine, {
      'GET /fibers/work/loader': { body: { fiber } },
      'POST /messages': { body: { ...RECEIPT, status: 'queued', transport: 'hook-mailbox' } },
    }));
    const done = await machine.svc('send', 'work/loader', 'Look.', '--context');
    expect(done).toMatchObject({ code });
    const posted = seen.find(({ path }) => path === '/messages');
    expect(
      (posted?.body as { address?: string } | undefined)?.address?.split('/').slice(3).join('/') ?? null,
    ).toBe(address);
  });
});

describe('[MSG-3] svc send without an answer', () => {
  it.each([
    ['remote_unreachable', 503],
    ['deadline_exceeded', 504],
  ])('names the id to send the message again with after %s', async (error, status) => {
    ({ seen } = await serveDaemon(machine, {
      'POST /messages': { status, body: { error, message: 'host-b does not answer.', origin: 'host-b' } },
    }));
    const { code, err } = await machine.svc('send', ADDRESS, 'Look.', '--json');
    expect(code).not.toBe(0);
    const { message_id } = seen.at(-1)!.body as { message_id: string };
    expect(JSON.parse(err)).toEqual({
      ...{ error, origin: 'host-b', message_id },
      message: `host-b does not answer. Send it again with --id ${message_id}; it is delivered once.`,
    });
  });

  it('names it where the daemon has gone', async () => {
    machine.writeDaemonFile(['127.0.0.1:1']);
    const { err } = await machine.svc('send', ADDRESS, 'Look.', '--id', 'm-7');
    expect(err).toMatch(/Send it again with --id m-7; it is delivered once\.\n$/);
  });

  it('[MSG-1] names the host that may be meant by one that is not known', async () => {
    const refused = { error: 'wrong_host', message: 'Host-B is no remote of this one' };
    await serveDaemon(machine, {
      'POST /messages': { status: 400, body: refused },
      'GET /state': { body: { host: 'host-a', fleet: { remotes: [{ name: 'host-b' }] } } },
    });
    const { code, err } = await machine.svc('send', 'svc://Host-B/claude/s-1', 'Look.');
    expect(code).toBe(1);
    expect(err).toBe('svc: Host-B is no remote of this one. Did you mean host-b?\n');
  });

  it('names none after a refusal', async () => {
    ({ seen } = await serveDaemon(machine, {
      'POST /messages': { status: 400, body: { error: 'preflight_failed', message: 'no room' } },
    }));
    expect((await send('--json')).err).not.toContain('m-1');
  });
});

describe('[MSG-1] svc send to the id of a session', () => {
  const session = (address: string) => ({
    ...{ address, fiber: 'work/loader', fiber_uid: null, surface: 'cli', agent: 'stays', phase: 'working' },
  });
  const serveSessions = async (...addresses: string[]) => {
    const none = { error: 'fiber_not_found', message: 'no fiber "s-2"' };
    ({ seen } = await serveDaemon(machine, {
      'GET /fibers/s-2': { status: 404, body: none },
      'GET /peers': { body: { host: 'host-a', sessions: addresses.map(session), gaps: [] } },
      'POST /messages': { body: RECEIPT },
    }));
  };
  const written = () => seen.filter(({ path }) => path === '/messages');

  it('writes to the one that has it, whatever host it is on', async () => {
    await serveSessions('svc://host-a/codex/s-1', 'svc://host-b/claude/s-2');
    expect(await machine.svc('send', 's-2', 'Look.')).toMatchObject({ code: 0 });
    expect(written()).toMatchObject([{ body: { address: 'svc://host-b/claude/s-2' } }]);
  });

  it('names the addresses where several have it', async () => {
    await serveSessions('svc://host-a/claude/s-2', 'svc://host-b/claude/s-2');
    const { code, err } = await machine.svc('send', 's-2', 'Look.');
    expect(code).toBe(1);
    expect(err).toContain(
      'several sessions have the id s-2: svc://host-a/claude/s-2, svc://host-b/claude/s-2',
    );
    expect(written()).toEqual([]);
  });

  it('says that no fiber is called so where none has it', async () => {
    await serveSessions('svc://host-a/claude/s-22');
    const { code, err } = await machine.svc('send', 's-2', 'Look.');
    expect(code).toBe(1);
    expect(err).toBe('svc: no fiber "s-2"\n');
    expect(written()).toEqual([]);
  });
});

describe('svc send --wait', () => {
  const queued = { ...RECEIPT, status: 'queued', detail: 'queued behind its turn' };
  /** Answers the first request with a receipt, the second one with an error, and all others with the last answer. */
  const serveThree = async (error: Answers[string], last: Answers[string]) => {
    const answers: Answers = {
      'POST /messages': () => {
        answers['POST /messages'] = error;
        return queued;
      },
    };
    ({ seen } = await serveDaemon(machine, answers));
    const look = machine.svc('send', ADDRESS, 'Look.', '--id', 'm-1', '--wait', 'accepted', '--json');
    await expect.poll(() => seen.length, { timeout: 10_000 }).toBe(2);
    answers['POST /messages'] = last;
    return look;
  };

  it('goes on after a look without an answer', async () => {
    const lost = { status: 503, body: { error: 'remote_unreachable', message: 'Nothing was sent.' } };
    const { code, out } = await serveThree(lost, { body: { ...RECEIPT, status: 'accepted' } });
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ status: 'accepted', detail: RECEIPT.detail });
  });

  it('answers the last receipt where a look is refused', async () => {
    const refused = { status: 400, body: { error: 'wrong_host', message: 'no such host' } };
    const { code, out } = await serveThree(refused, refused);
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({
      status: 'queued',
      detail: 'queued behind its turn; its further stages could not be asked for: no such host',
    });
  });

  it('[MDS-1] says at a terminal of a message that was given to nobody yet that it is held', async () => {
    const held = { ...RECEIPT, status: 'queued', transport: 'held', detail: 'a draft is in its composer' };
    await serveDaemon(machine, { 'POST /messages': { body: held } });
    Object.assign(machine.context, { columns: 80, outIsTerminal: true, colour: false });
    expect((await send()).out).toBe('held: a draft is in its composer\n');
  });

  it('tells at a terminal that the message is being given, while its first receipt is waited for', async () => {
    let answer = (): void => undefined;
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const told: string[] = [];
    const err = (text: string) => {
      told.push(text);
      if (text.includes('The message is given')) answer();
    };
    await serveDaemon(machine, { 'POST /messages': () => answered.then(() => RECEIPT) });
    Object.assign(machine.context, { err_columns: 80, err });
    expect((await send()).code).toBe(0);
  });

  it('[MDS-1] tells at a terminal how far the message came before it waits', async () => {
    const answers: Answers = {
      'POST /messages': () => {
        answers['POST /messages'] = {
          body: { ...RECEIPT, status: 'accepted', detail: 'there is an answer' },
        };
        return queued;
      },
    };
    await serveDaemon(machine, answers);
    Object.assign(machine.context, { err_columns: 80, columns: 80, outIsTerminal: true, colour: false });
    const { code, out, err } = await send('--wait', 'accepted');
    expect([code, out]).toEqual([0, 'answered: there is an answer\n']);
    expect(err).toMatch(/^in its queue: queued behind its turn\n/);
    expect(err).toContain('Waiting until it is answered');
  });
});
