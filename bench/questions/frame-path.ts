import { performance } from 'node:perf_hooks';
import { setImmediate as turn } from 'node:timers/promises';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { createSupervisor } from '../../src/threads/supervisor.ts';
import { createThreadComponent } from '../../src/threads/thread-component.ts';
import { NO_SESSIONS } from '../../test/kit/no-sessions.ts';
import { wait } from '../daemon.ts';
import { type Bench, type Figure, median, percentile, shown } from '../frame.ts';
import { nowUs, sinkCalls, sinkHears } from '../frame-sink.ts';

/** 100 ms of 16-bit sound at 16 kHz. */
const FRAME_BYTES = 3_200;
const A_SECOND = 50;
const SECONDS = 10;
const FAST_FRAMES = 100_000;

/** Where a frame's bytes lie: in a buffer of their own, which is given away, or in one that others share. */
const SOURCES: Record<string, () => Uint8Array> = {
  'no copy': () => new Uint8Array(FRAME_BYTES),
  'one copy': () => new Uint8Array(FRAME_BYTES + 1).subarray(1),
};

export const bench: Bench = {
  name: 'frame-path',
  question: 'what does an audio frame of 3,200 bytes cost on its way from the main thread to another?',
  async run(log) {
    const sink = createThreadComponent({
      name: 'sink',
      url: new URL('../servers/frame-sink.ts', import.meta.url),
      calls: sinkCalls,
      events: {},
      hears: sinkHears,
      settings: { log_level: 'silent' },
      memory_mb: 256,
      clock: systemClock,
      logger: silentLogger,
      host: {
        pool: () => Promise.reject(new Error('the sink asks for no job')),
        ...NO_SESSIONS,
      },
    });
    const supervisor = createSupervisor({
      children: [sink],
      clock: systemClock,
      logger: silentLogger,
      restart: { intensity: 0, window_ms: 1, backoff: { first: 1, most: 1 } },
      heartbeat: { interval_ms: 1_000, timeout_ms: 10_000 },
      stop_timeout_ms: 1_000,
      onEssentialFailed: () => {},
    });
    await supervisor.start();
    try {
      const figures: Figure[] = [];
      for (const [copies, make] of Object.entries(SOURCES)) {
        const given = make();
        sink.notify('frame', { sent_us: nowUs() }, given);
        const copied = given.byteLength === FRAME_BYTES;
        if (copied !== (copies === 'one copy')) throw new Error(`${copies} does not hold`);
        await sink.call('taken', {});

        for (let sent = 0; sent < SECONDS * A_SECOND; sent += 1) {
          if (!sink.notify('frame', { sent_us: nowUs() }, make())) throw new Error('a frame was refused');
          await wait(1_000 / A_SECOND);
        }
        const { ways_us, bytes } = await sink.call('taken', {});
        if (bytes !== SECONDS * A_SECOND * FRAME_BYTES) throw new Error(`only ${bytes} bytes came`);
        figures.push({
          ...shown(`${A_SECOND} a second, ${copies}: on its way, p99`, percentile(ways_us, 99), 'µs'),
          against: [{ name: 'median', value: median(ways_us), unit: 'µs' }],
        });

        const began = performance.now();
        const cpu = process.cpuUsage();
        let refused = 0;
        for (let sent = 0; sent < FAST_FRAMES; ) {
          if (sink.notify('frame', { sent_us: nowUs() }, make())) sent += 1;
          else {
            refused += 1;
            await turn();
          }
        }
        const taken = await sink.call('taken', {});
        const took_us = (performance.now() - began) * 1_000;
        const { user, system } = process.cpuUsage(cpu);
        if (taken.ways_us.length !== FAST_FRAMES) throw new Error(`only ${taken.ways_us.length} frames came`);
        log(`${copies}: ${FAST_FRAMES} frames, ${refused} refused while the thread was behind`);
        figures.push({
          ...shown(`as fast as it goes, ${copies}: a frame`, took_us / FAST_FRAMES, 'µs'),
          against: [
            { name: 'processor, both threads', value: (user + system) / FAST_FRAMES, unit: 'µs' },
            { name: 'on its way, p99', value: percentile(taken.ways_us, 99), unit: 'µs' },
          ],
        });
      }
      return figures;
    } finally {
      await supervisor.stop();
    }
  },
};
