import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { FakeClock } from '../../src/base/clock.ts';
import { createLogger } from '../../src/base/logger.ts';
import type { RemoteState } from '../../src/contract/http/state.ts';
import type { Remote } from '../../src/contract/threads/fleet.ts';
import { createFleetService } from '../../src/fleet/fleet-service.ts';
import type { FollowedRemote, ReachedAs } from '../../src/fleet/remote-address.ts';
import { readRemotesFile, remotesPath } from '../../src/fleet/remotes-file.ts';
import { until } from '../kit/until.ts';

let dir: string;
let path: string;
let log: string[];
let published: string[][];
let all: Remote[];
let clock: FakeClock;
let follows: FollowedRemote[][];
let reachedAs: ReachedAs;
const UNPOLLED: Omit<RemoteState, 'name'> = {
  ...{ state: 'unpolled' as const, breaker: 'closed' as const },
  ...{ last_ok_at: null, error: null, build: null },
};
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-fleet-'));
  path = join(dir, 'remotes.json');
  log = [];
  published = [];
  follows = [];
  reachedAs = (address) => address;
  clock = new FakeClock();
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

async function service() {
  const logger = createLogger({
    component: 'fleet',
    level: 'warn',
    destination: { write: (text) => log.push(text) },
  });
  const publish = (remotes: Remote[]) => {
    all = remotes;
    published.push(remotes.map(({ name }) => name));
  };
  let followed: FollowedRemote[] = [];
  const feeds = {
    follow(remotes: readonly FollowedRemote[]) {
      followed = [...remotes];
      follows.push(followed);
    },
    standings: () => followed.map(({ name }) => ({ ...UNPOLLED, name })),
  };
  const fleet = createFleetService({
    ...{ remotes_file: path, publish, feeds, clock, logger },
    reachedAs: (address) => reachedAs(address),
  });
  // A look that ends after the test would publish into the next one.
  onTestFinished(() => fleet.stop());
  await fleet.look();
  return fleet;
}

/** Half a second after the other, until as much has been published: what is read takes time that the clock does not show. */
async function halfASecond(publications: number): Promise<void> {
  await until('the publication', () => {
    clock.advance(500);
    return published.length >= publications;
  });
}

describe('the fleet', () => {
  it('has no remotes if no file configures any', async () => {
    expect(await (await service()).state()).toEqual({ remotes: [] });
    expect(log).toEqual([]);
  });

  it('lists the configured remotes as not polled, at the current time', async () => {
    const fleet = await service();
    writeFileSync(path, '{"version":1,"remotes":[{"name":"host-b","port":4001},{"name":"host-c"}]}');
    expect(await fleet.state()).toEqual({
      remotes: [
        { ...UNPOLLED, name: 'host-b' },
        { ...UNPOLLED, name: 'host-c' },
      ],
    });
    writeFileSync(path, '{"remotes":[{"name":"host-d"}]}');
    expect((await fleet.state()).remotes.map((remote) => remote.name)).toEqual(['host-d']);
  });

  it('names the entries again once a file that could not be reached is back as it was', async () => {
    const folder = join(dir, 'config');
    mkdirSync(folder);
    path = join(folder, 'remotes.json');
    writeFileSync(path, '{"remotes":[{"name":"host-b"}]}');
    const fleet = await service();
    renameSync(folder, join(dir, 'away'));
    symlinkSync('config', folder);
    await expect(fleet.entriesNow()).rejects.toMatchObject({ code: 'invalid_config' });
    rmSync(folder);
    renameSync(join(dir, 'away'), folder);
    expect(await fleet.entriesNow()).toEqual([{ name: 'host-b' }]);
  });

  it('follows nothing more once it was stopped, also not what a look was just reading', async () => {
    const fleet = await service();
    const times = follows.length;
    writeFileSync(path, '{"remotes":[{"name":"host-b"}]}');
    const look = fleet.look();
    fleet.stop();
    await look;
    expect(follows).toHaveLength(times);
  });

  it('follows a remote again, and tells it, once this machine reaches it in another way', async () => {
    const fleet = await service();
    writeFileSync(path, '{"remotes":[{"name":"host-b","url":"http://100.64.0.2:4000"}]}');
    await fleet.look();
    reachedAs = (address) => ({ ...address, dial: '/run/tailscaled.sock' });
    fleet.reach();
    const address = { url: 'http://100.64.0.2:4000', dial: '/run/tailscaled.sock' };
    expect(follows.at(-1)).toMatchObject([{ name: 'host-b', address }]);
    expect(all).toMatchObject([{ address }]);
    const times = follows.length;
    fleet.reach();
    expect(follows).toHaveLength(times);
  });

  it('keeps the last valid remotes while the file is invalid, and warns once', async () => {
    const fleet = await service();
    writeFileSync(path, '{"remotes":[{"name":"host-b"}]}');
    await fleet.state();
    writeFileSync(path, '{"remotes":[');
    expect((await fleet.state()).remotes.map((remote) => remote.name)).toEqual(['host-b']);
    await fleet.state();
    expect(log).toHaveLength(1);
    expect(log[0]).toContain(path);
  });
});

describe('the remotes that the fleet publishes', () => {
  const write = (...names: string[]) =>
    writeFileSync(path, JSON.stringify({ remotes: names.map((name) => ({ name })) }));

  it('are sent at the start, and within half a second of each change of the file', async () => {
    write('host-b');
    const fleet = await service();
    expect(published).toEqual([['host-b']]);
    clock.advance(500);
    await delay(50);
    await fleet.look();
    expect(published).toHaveLength(1);
    write('host-b', 'host-c');
    await halfASecond(2);
    rmSync(path);
    await halfASecond(3);
    expect(published.slice(1)).toEqual([['host-b', 'host-c'], []]);
    fleet.stop();
    write('host-d');
    clock.advance(5_000);
    await delay(50);
    expect(published).toHaveLength(3);
  });

  it('are not published again if the file has the same content', async () => {
    write('host-b');
    const fleet = await service();
    writeFileSync(path, '{"remotes": [{"name": "host-b", "note": "new"}]}');
    await fleet.look();
    expect(fleet.entries()).toEqual([{ name: 'host-b', note: 'new' }]);
    expect(published).toEqual([['host-b']]);
  });

  it('[AUT-4] have the address of each daemon, a socket before a URL, or say why it has none', async () => {
    const entries = [
      { name: 'host-b', port: 4001 },
      { name: 'host-c', url: 'https://host-c.example/svc/', auth: { kept: true } },
      { name: 'host-d', ssh: 'd-login' },
      { name: 'host-e', port: 70_000 },
      { name: 'host-f', url: 'file:///etc/passwd' },
      { name: 'host-g', url: 'host-g:4000' },
      { name: 'host-h', socket: '/run/h.sock', url: 'http://host-h.example', port: 4001 },
      { name: 'host-i', socket: 'h.sock' },
    ];
    writeFileSync(path, JSON.stringify({ remotes: entries }));
    await service();
    expect(all).toEqual([
      { name: 'host-b', address: { url: 'http://127.0.0.1:4001' }, problem: null },
      { name: 'host-c', address: { url: 'https://host-c.example/svc' }, problem: null },
      { name: 'host-d', address: null, problem: expect.stringContaining('host-d') },
      { name: 'host-e', address: null, problem: expect.stringContaining('port') },
      { name: 'host-f', address: null, problem: expect.stringContaining('http://') },
      { name: 'host-g', address: null, problem: expect.stringContaining('http://') },
      { name: 'host-h', address: { socket: '/run/h.sock' }, problem: null },
      { name: 'host-i', address: null, problem: expect.stringContaining('absolute') },
    ]);
  });

  it('are published again where one answers elsewhere', async () => {
    write('host-b');
    await service();
    writeFileSync(path, '{"remotes":[{"name":"host-b","port":4001}]}');
    await halfASecond(2);
    expect(all).toEqual([{ name: 'host-b', address: { url: 'http://127.0.0.1:4001' }, problem: null }]);
  });

  it('are published before the next check if a caller asks', async () => {
    const fleet = await service();
    write('host-b');
    await fleet.state();
    expect(published).toEqual([[], ['host-b']]);
  });

  it('do not change while the file is invalid, and are unknown until it was read once', async () => {
    writeFileSync(path, '{"remotes":[');
    const fleet = await service();
    expect([published, await fleet.state()]).toEqual([[], { remotes: [] }]);
    write('host-b');
    await halfASecond(1);
    writeFileSync(path, '{"remotes":[');
    await fleet.look();
    expect(published).toEqual([['host-b']]);
  });
});

describe('the feeds that the fleet follows', () => {
  const timings = () => follows.map((all) => all.map(({ timing }) => Object.values(timing)));

  it('are those of all remotes, as often as the file says, and again after each change of that', async () => {
    const defaults = { poll_interval_ms: 400, request_timeout_ms: 'soon', stale_multiplier: 2.5 };
    const entry = { name: 'host-b', port: 4001, request_timeout_ms: 900, poll_interval_ms: 0 };
    writeFileSync(path, JSON.stringify({ defaults, remotes: [entry, { name: 'host-c' }] }));
    const fleet = await service();
    expect(timings()).toEqual([
      [
        [400, 900, 2.5],
        [400, 2_000, 2.5],
      ],
    ]);
    expect(follows[0]![1]).toMatchObject({ name: 'host-c', address: null });
    writeFileSync(path, JSON.stringify({ defaults: 7, remotes: [entry] }));
    await halfASecond(2);
    expect(timings()[1]).toEqual([[5_000, 900, 4]]);
    expect(published).toEqual([['host-b', 'host-c'], ['host-b']]);
    await delay(50);
    await fleet.look();
    expect(follows).toHaveLength(2);
  });
});

describe('the remotes file', () => {
  it('skips invalid entries and names them', async () => {
    writeFileSync(path, '{"remotes":[{"name":"host-b"},{"port":1},7,{"name":""},{"name":"host-b"}]}');
    const { entries, problems } = await readRemotesFile(path);
    expect(entries).toEqual([{ name: 'host-b' }]);
    expect(problems).toEqual([
      `${path}: entry 2 of "remotes" needs a "name"`,
      `${path}: entry 3 of "remotes" needs a "name"`,
      `${path}: entry 4 of "remotes" needs a "name"`,
      `${path}: two remotes are named host-b`,
    ]);
  });

  it('that is not JSON or does not have the expected form is invalid_config', async () => {
    for (const text of ['', '[]', '{"remotes":{}}', 'null', '{"remotes":[}']) {
      writeFileSync(path, text);
      await expect(readRemotesFile(path)).rejects.toMatchObject({ code: 'invalid_config' });
    }
    await expect(readRemotesFile(dir)).rejects.toMatchObject({ code: 'invalid_config' });
  });

  it('has its own path setting, and is otherwise in the config dir', async () => {
    expect(remotesPath({ remotes_file: '/x/r.json', config_dir: '/c' })).toBe('/x/r.json');
    expect(remotesPath({ remotes_file: null, config_dir: '/c' })).toBe('/c/remotes.json');
  });
});
