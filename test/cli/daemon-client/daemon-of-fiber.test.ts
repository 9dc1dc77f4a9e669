import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { placeMeant } from '../../../src/cli/daemon-client/daemon-of-fiber.ts';
import { createMachine, serveDaemon } from '../kit.ts';

const read = (...fibers: { id: string; uid: string | null }[]) => ({ read: { fibers } });

describe('[RTE-2] a fiber that this host has under no such name', () => {
  const places = {
    host: 'host-a',
    origins: {
      'host-a': read({ id: 'near', uid: 'U0' }, { id: 'farther', uid: null }),
      'host-b': read(
        { id: 'far', uid: 'U1' },
        { id: 'far/away', uid: null },
        { id: 'fern', uid: null },
        { id: 'moss', uid: null },
      ),
      'host-c': read({ id: 'stones', uid: 'U2' }, { id: 'moss', uid: null }),
      'host-d': { read: null },
    },
  };

  it.each([
    ['an id of another host, before a beginning here', 'far', undefined, 'host-b far'],
    ['a uid', 'U1', undefined, 'host-b far'],
    ['a beginning here', 'fart', undefined, 'host-a farther'],
    ['a beginning here, before one elsewhere', 'n', undefined, 'host-a near'],
    ['the last part of an id elsewhere', 'away', undefined, 'host-b far/away'],
    ['a beginning elsewhere', 'sto', undefined, 'host-c stones'],
    ['a beginning on the host that is named', 'mo', 'host-c', 'host-c moss'],
  ])('is %s', (_, reference, only, expected) => {
    const { host, id } = placeMeant(reference, places, only);
    expect(`${host} ${id}`).toBe(expected);
  });

  it.each([
    [
      'several hosts have it',
      'moss',
      'moss is on the hosts host-b, host-c; name the one that is meant with --host',
    ],
    [
      'a beginning fits several',
      'm',
      'moss is on the hosts host-b, host-c; name the one that is meant with --host',
    ],
    ['none is near', 'quartz', 'no fiber is called quartz; svc fiber ls lists them'],
    ['one is near', 'stnoes', 'no fiber is called stnoes. Did you mean stones?'],
  ])('is refused where %s', (_, reference, message) => {
    expect(() => placeMeant(reference, places)).toThrow(message);
  });

  it('is refused where several of one host fit', () => {
    expect(() => placeMeant('f', places, 'host-b')).toThrow(
      'f may be far on host-b or fern on host-b; give more of the id, or the ULID',
    );
  });
});

it('waits longer for another host than the daemon does, and names the host', async () => {
  const machine = createMachine();
  onTestFinished(() => machine.remove());
  const state = { host: 'host-a', fleet: { remotes: [{ name: 'host-b' }] } };
  await serveDaemon(machine, { 'GET /state': { body: state } });
  const { timeout } = AbortSignal;
  const limits = vi
    .spyOn(AbortSignal, 'timeout')
    .mockImplementation((ms) => (ms > 10_000 ? AbortSignal.abort() : timeout.call(AbortSignal, ms)));
  onTestFinished(() => limits.mockRestore());
  const { code, err } = await machine.svc('fiber', 'show', 'far', '--host', 'host-b');
  expect(code).not.toBe(0);
  expect(err).toMatch(/does not answer what it is asked of host-b: no answer within 125 s/);
});

it.each([
  ['status', '/etc/passwd'],
  ['log', '.'],
  ['transcript', 'work//loader'],
  ['why', 'work/'],
])('svc %s says that %s cannot be the id of a fiber', async (verb, typed) => {
  const machine = createMachine();
  onTestFinished(() => machine.remove());
  await serveDaemon(machine, {});
  expect(await machine.svc(verb, typed)).toMatchObject({
    code: 2,
    err: `svc: "${typed}" cannot be the id of a fiber; svc fiber ls lists them\n`,
  });
});

it('says of an id with a control character, which a store may list, that its file is to be renamed', async () => {
  const machine = createMachine();
  onTestFinished(() => machine.remove());
  await serveDaemon(machine, {});
  for (const typed of ['a\nb', 'a\u001b[31mb', 'a\\b'])
    expect(await machine.svc('status', typed)).toMatchObject({
      code: 2,
      err: expect.stringContaining('if a store lists it, rename its folder or file there'),
    });
});
