import { readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import type { RecorderState } from '../../src/contract/recorder.ts';
import type { StartMeeting } from '../../src/contract/threads/audio.ts';
import { MeetingFiles, type MeetingRecord } from '../../src/meetings/meeting-record.ts';
import { MeetingService } from '../../src/meetings/meeting-service.ts';
import type { ProcessLife } from '../../src/platform/process-facts.ts';
import { type ScratchFolder, scratchFolder } from '../kit/scratch-folder.ts';
import { until } from '../kit/until.ts';

const ASKED: StartMeeting = {
  ...{ mode: 'phone', note: 'Budget', fiber: null, owner: null, mirror: null, dry_run: false },
};
const PROCESS = { pid: 4_000_000, start_time: '1' };

let scratch: ScratchFolder;
let files: MeetingFiles;
let services: MeetingService[];
/** Whether the recorder’s process is there, and who was told to stop. */
let life: ProcessLife;
let interrupted: number[];

beforeEach(() => {
  scratch = scratchFolder();
  files = new MeetingFiles({ folder: scratch.path, logger: silentLogger });
  services = [];
  life = 'alive';
  interrupted = [];
});
afterEach(() => {
  for (const service of services) service.stopLooking();
  scratch.remove();
});

/** A daemon’s service; `started` is what the start of a session comes to. */
function newService(started: () => Promise<{ kind: 'created'; process: typeof PROCESS }>): MeetingService {
  const service = new MeetingService({
    files,
    sessions: {
      start: started,
      look: async () => ({ kind: 'there', process: PROCESS }),
      end: async () => 'killed',
    },
    findRecorder: () => ({ program: { name: 'own', argv: ['/bin/true'], bundled: true } }) as never,
    ...{ platform: 'linux', env: {}, clock: systemClock, logger: silentLogger },
    newLaunch: () => 'l1',
    lifeOf: async () => life,
    interrupt: ({ pid }) => void interrupted.push(pid),
  });
  services.push(service);
  return service;
}

const created = async () => {
  says('live');
  return { kind: 'created' as const, process: PROCESS };
};
const current = () => JSON.parse(readFileSync(`${scratch.path}/current.json`, 'utf8')) as MeetingRecord;
const paths = () => files.pathsOf(current().name);

function says(phase: RecorderState['phase'], more: Partial<RecorderState> = {}): void {
  const { launch } = current();
  const state = {
    ...{ version: 1, launch, pid: PROCESS.pid, process_started: PROCESS.start_time, phase, started_at: 1 },
    ...{ phone: '/run/phone.sock', engine: 'vad', error: null, fault: null, ...more },
  };
  writeFileSync(paths().state, JSON.stringify(state));
}

async function startLive(): Promise<MeetingService> {
  const service = newService(created);
  await service.start(ASKED);
  expect(service.row()).toMatchObject({ state: 'live' });
  writeFileSync(paths().transcript, '# vad\n');
  return service;
}

describe('a meeting whose lifecycle file cannot be read for a while', () => {
  it('[MTS-2] [MTS-5] stays live with its socket, says so, and is told to stop, not dismissed', async () => {
    const service = await startLive();
    writeFileSync(paths().state, '{"version":1,');
    await service.look();
    expect(service.row()).toMatchObject({ state: 'live', error: expect.stringContaining('cannot be read') });
    expect(service.relayed()).toMatchObject({ state: 'live', socket: '/run/phone.sock' });
    await service.stop(false);
    expect(service.row()).toMatchObject({ state: 'stopping' });
    expect(interrupted).toEqual([PROCESS.pid]);
  });
});

describe('a recorder that was to be told to stop', () => {
  it('[MTS-5] is told by the next daemon, where the one that was asked ended before it could', async () => {
    await startLive();
    files.write({ ...current(), stop_asked_at: 1 });
    await newService(created).begin();
    expect(interrupted).toEqual([PROCESS.pid]);
  });

  it('[MTS-6] is told once by a daemon, since a second signal would cut off its last words', async () => {
    const service = await startLive();
    await service.stop(false);
    for (let looks = 0; looks < 3; looks += 1) await service.look();
    await service.stop(false);
    expect(interrupted).toEqual([PROCESS.pid]);
  });

  it('[MTS-6] is not told again by the next daemon once it stops', async () => {
    await startLive();
    files.write({ ...current(), stop_asked_at: 1 });
    says('stopping');
    await newService(created).begin();
    expect(interrupted).toEqual([]);
  });
});

describe('a recorder that was killed', () => {
  it('[MTS-4] has its end told in the transcript once, on a line of its own', async () => {
    const service = await startLive();
    writeFileSync(paths().transcript, '# vad\n10:00:01-10:00:03 S1 good mor');
    life = 'gone';
    for (let looks = 0; looks < 3; looks += 1) await service.look();
    expect(service.row()).toMatchObject({ state: 'failed' });
    const told = /^# vad\n10:00:01-10:00:03 S1 good mor\n# recorder ended \d\d:\d\d:\d\d\n$/;
    expect(readFileSync(paths().transcript, 'utf8')).toMatch(told);
    await newService(created).begin();
    expect(readFileSync(paths().transcript, 'utf8')).toMatch(told);
  });
});

describe('a mark', () => {
  it.each(['loading', 'stopping', 'failed'] as const)('is refused while the meeting is %s', async (phase) => {
    const service = await startLive();
    says(phase, phase === 'failed' ? { error: 'no model' } : {});
    await expect(service.mark('agreed', false)).rejects.toMatchObject({
      code: 'no_meeting',
      message: expect.stringMatching(/try again in a moment|takes no more marks/),
    });
    expect(readFileSync(paths().transcript, 'utf8')).toBe('# vad\n');
  });
});

describe('a start whose answer never came', () => {
  it('[MTG-4] follows the recorder that was started all the same', async () => {
    const service = newService(async () => {
      says('live');
      throw new Error('no answer in time');
    });
    await expect(service.start(ASKED)).rejects.toThrow('no answer in time');
    await until('the meeting', () => service.row()?.state === 'live');
    await service.stop(false);
    expect(interrupted).toEqual([PROCESS.pid]);
  });
});
