import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Meeting, MeetingAnswer } from '../../src/contract/http/meeting.ts';
import { until } from '../fixtures/mux/private-server.ts';
import { Bed, type Daemon } from './bed.ts';
import { type SmallDisk, smallDisk } from './small-disk.ts';

let bed: Bed | null = null;
let disk: SmallDisk | null = null;
afterEach(async () => {
  disk?.mend();
  await bed?.dispose();
  await disk?.remove();
  bed = null;
  disk = null;
});

/** A daemon with all its folders on a small disk; null where this user may not mount one. */
async function arrange(): Promise<{ daemon: Daemon; of: SmallDisk } | null> {
  disk = smallDisk({ mib: 48 });
  if (disk === null) return null;
  const root = join(disk.path, 'b');
  mkdirSync(root);
  bed = new Bed({ root, env: { SVC_RECORDER_ENGINE: 'vad' } });
  await bed.fiber('budget', { armed: false });
  return { daemon: await bed.daemon().ready(), of: disk };
}

type Begun = { meeting?: Meeting; error?: string; message?: string };
const begin = (daemon: Daemon) =>
  daemon.post<Begun>('/meeting/join', { fiber_id: 'budget', meeting: { mode: 'phone' } });
const look = async (daemon: Daemon) => (await daemon.get<MeetingAnswer>('/meeting')).json.meeting;
const whenLive = (daemon: Daemon) =>
  until(
    'a live meeting',
    async () => {
      const meeting = await look(daemon);
      return meeting?.state === 'live' ? meeting : null;
    },
    30_000,
  );

const MEND = /no space is left; .*free space there/;

describe('a meeting while the disk is full', () => {
  it('is refused with the fix, leaves nothing behind, and begins once there is space', async ({ skip }) => {
    const made = await arrange();
    if (made === null) return skip('this user may not mount a small file system');
    const { daemon, of } = made;
    of.fill();
    const refused = await begin(daemon);
    expect(refused).toMatchObject({ status: 507, json: { error: 'storage_unavailable' } });
    expect(refused.json.message).toMatch(MEND);
    expect(await look(daemon)).toBeNull();
    of.mend();
    expect((await begin(daemon)).status).toBe(200);
    await whenLive(daemon);
  });

  it('goes on, takes no mark that would be torn, and ends when it is told to', async ({ skip }) => {
    const made = await arrange();
    if (made === null) return skip('this user may not mount a small file system');
    const { daemon, of } = made;
    await begin(daemon);
    const { transcript, launch } = await whenLive(daemon);
    const before = readFileSync(transcript, 'utf8');
    of.fill();
    const marked = await daemon.post<Begun>('/meeting/mark', { text: 'agreed' });
    expect(marked).toMatchObject({ status: 507, json: { error: 'storage_unavailable' } });
    expect(marked.json.message).toMatch(MEND);
    await until('the fault', async () => (await look(daemon))?.error?.includes('is full; free space there'));
    expect((await look(daemon))?.state).toBe('live');
    const stopped = await daemon.post<{ meeting: Meeting }>('/meeting/stop', {});
    expect(stopped).toMatchObject({ status: 202, json: { meeting: { state: 'stopping', launch } } });
    expect((await daemon.post('/meeting/stop', {})).status).toBe(202);
    of.mend();
    await until('the end', async () => (await look(daemon)) === null, 60_000);
    const after = readFileSync(transcript, 'utf8');
    expect(after.startsWith(before)).toBe(true);
    expect(after).toMatch(/\n# ended \d\d:\d\d:\d\d\n$/);
    expect(after).not.toContain('agreed');
  });
});
