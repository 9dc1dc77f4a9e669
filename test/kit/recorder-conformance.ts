import { appendFileSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RECORDER_STATE_BYTES, recorderStateSchema } from '../../src/contract/recorder.ts';
import { SOCKET_PATH_BYTES } from '../../src/contract/socket-path.ts';
import { lookUpProcess } from '../../src/platform/process-facts.ts';
import { babble, joinedAudio, silence } from './made-audio.ts';
import { type RecorderProgram, TestRecording } from './recording.ts';
import { pause, until } from './until.ts';

const SPOKEN = /^([01]\d|2[0-3]):[0-5]\d:[0-5]\d-([01]\d|2[0-3]):[0-5]\d:[0-5]\d S[1-9]\d* \S.*$/;
const ENDED = /^# ended \d\d:\d\d:\d\d$/;

/**
 * What `ops/recorder.md` asks of a recorder, as tests. `program` gives the recorder and a folder for the files of one
 * test.
 */
export function recorderConformance(name: string, program: () => RecorderProgram & { folder: string }): void {
  describe(`the recorder contract, kept by ${name}`, () => {
    let recording: TestRecording;
    beforeEach(() => {
      const { folder, ...rest } = program();
      mkdirSync(folder, { recursive: true });
      recording = new TestRecording(rest, folder);
    });
    afterEach(() => recording.dispose());

    it('it is loading, then live with a socket of this user alone, and names itself and its launch', async () => {
      recording.start();
      const first = await until('a lifecycle file', () => recording.state());
      expect(['loading', 'live']).toContain(first.phase);
      const state = await recording.when('live');
      expect(state).toMatchObject({ version: 1, launch: recording.launch, error: null });
      const found = lookUpProcess(state.pid);
      expect(found.kind).toBe('found');
      if (found.kind === 'found') expect([null, found.row.start_time]).toContain(state.process_started);
      expect(Math.abs(Date.now() - state.started_at)).toBeLessThan(120_000);
      expect(Buffer.byteLength(state.phone!)).toBeLessThanOrEqual(SOCKET_PATH_BYTES);
      const socket = statSync(state.phone!);
      expect(socket.isSocket()).toBe(true);
      expect(socket.mode & 0o077).toBe(0);
    });

    it('its transcript begins with the engine as the lifecycle file names it', async () => {
      recording.start();
      const { engine } = await recording.when('live');
      expect(engine).toMatch(/\S/);
      expect(await recording.line(/./)).toBe(`# ${engine}`);
    });

    it('[AUD-2] it takes audio in pieces of any length, and writes what was said', async () => {
      recording.start();
      const sender = await recording.sender();
      await sender.send(joinedAudio(silence(0.5), babble(1.5), silence(2)), 641);
      recording.signal('SIGINT');
      expect(await recording.exited()).toBe(0);
      for (const line of recording.spoken()) expect(line).toMatch(SPOKEN);
      sender.close();
    });

    it('it reads at all times, however fast audio comes', async () => {
      recording.start();
      const sender = await recording.sender();
      const minute = joinedAudio(...Array.from({ length: 20 }, () => joinedAudio(babble(2), silence(1))));
      const from = performance.now();
      await sender.send(minute);
      await sender.send(minute);
      expect(performance.now() - from).toBeLessThan(10_000);
      sender.close();
    });

    it('[AUD-8] a new sender replaces the one before, which is closed while the phase is live', async () => {
      recording.start();
      const first = await recording.sender();
      await first.send(babble(0.5));
      const second = await recording.sender();
      await first.closed;
      expect(recording.state()?.phase).toBe('live');
      await second.send(babble(0.5));
      await pause(200);
      expect(await Promise.race([second.closed.then(() => 'closed'), pause(100)])).toBe(undefined);
      second.close();
    });

    it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
      '[MTS-5] the first %s stops it: stopping before its sender is closed, the open words, the end, exit 0',
      async (signal) => {
        recording.start();
        const sender = await recording.sender();
        await sender.send(joinedAudio(silence(0.5), babble(2)));
        const seen: (string | undefined)[] = [];
        const closed = sender.closed.then(() => seen.push(recording.state()?.phase));
        recording.signal(signal);
        await closed;
        expect(['stopping', 'ended']).toContain(seen[0]);
        expect(await recording.exited()).toBe(0);
        expect(recording.state()).toMatchObject({ phase: 'ended', error: null });
        expect(recording.lines().at(-1)).toMatch(ENDED);
        expect(readFileSync(recording.transcript_path, 'utf8')).toMatch(/\n$/);
      },
    );

    it('a second signal ends it at once', async () => {
      recording.start();
      await recording.when('live');
      recording.signal('SIGINT');
      recording.signal('SIGTERM');
      const from = performance.now();
      await recording.exited();
      expect(performance.now() - from).toBeLessThan(5_000);
    });

    it('it stops when nobody ever connected', async () => {
      recording.start();
      await recording.when('live');
      recording.signal('SIGINT');
      expect(await recording.exited()).toBe(0);
      expect(recording.lines().at(-1)).toMatch(ENDED);
      expect(recording.spoken()).toEqual([]);
    });

    it('lines that another program appends stay whole between its own', async () => {
      recording.start();
      const sender = await recording.sender();
      let marks = 0;
      for (let round = 0; round < 5; round += 1) {
        const sent = sender.send(joinedAudio(babble(1), silence(1)));
        for (let nth = 0; nth < 10; nth += 1) {
          appendFileSync(recording.transcript_path, `# mark 10:00:00 number ${marks}\n`);
          marks += 1;
        }
        await sent;
      }
      recording.signal('SIGINT');
      expect(await recording.exited()).toBe(0);
      const lines = recording.lines();
      expect(lines.filter((line) => /^# mark 10:00:00 number \d+$/.test(line))).toHaveLength(marks);
      for (const line of lines) expect(line).toMatch(/^# |^\d\d:\d\d:\d\d-/);
    });

    it('its lifecycle file is whole at every moment', async () => {
      recording.start();
      let reads = 0;
      let ended = false;
      void recording.when('live').then(() => recording.signal('SIGINT'));
      void recording.exited().then(() => {
        ended = true;
      });
      while (!ended) {
        if (existsSync(recording.state_path)) {
          const text = readFileSync(recording.state_path, 'utf8');
          expect(text.length).toBeLessThanOrEqual(RECORDER_STATE_BYTES);
          recorderStateSchema.parse(JSON.parse(text));
          reads += 1;
        }
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(reads).toBeGreaterThan(10);
    });

    it('audio that it keeps is a WAV file of 16 kHz, 16 bit and one channel that says how long it is', async () => {
      recording.start();
      const sender = await recording.sender();
      await sender.send(joinedAudio(babble(1), silence(1)));
      recording.signal('SIGINT');
      expect(await recording.exited()).toBe(0);
      if (!existsSync(recording.audio_path)) return;
      const wav = readFileSync(recording.audio_path);
      expect(wav.toString('latin1', 0, 4)).toBe('RIFF');
      expect(wav.readUInt32LE(24)).toBe(16_000);
      expect(wav.readUInt32LE(40)).toBe(wav.length - 44);
      sender.close();
    });

    it('a recording that cannot begin fails: phase failed, why, and an exit code', async () => {
      recording.start({
        more: ['--transcript', join(dirname(recording.state_path), 'missing', 'meeting.txt')],
      });
      expect(await recording.exited()).not.toBe(0);
      const state = recording.state();
      expect(state).toMatchObject({ phase: 'failed', phone: null });
      expect(state?.error).toContain('missing/meeting.txt');
    });
  });
}
