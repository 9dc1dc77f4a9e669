import { chmodSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { createRunner } from '../../../src/platform/process.ts';
import { createChildEngine, type EngineProgram } from '../../../src/recorder/engines/child-engine.ts';
import type { EngineSegment } from '../../../src/recorder/engines/engine.ts';
import { describeEngines, type EngineSettings, startEngine } from '../../../src/recorder/engines/engines.ts';
import { findPocketSphinx } from '../../../src/recorder/engines/pocketsphinx.ts';
import { liveLine } from '../../../src/recorder/engines/pocketsphinx-lines.ts';
import { SpeakerClusters } from '../../../src/recorder/engines/speaker-clusters.ts';
import { createVadEngine } from '../../../src/recorder/engines/vad.ts';
import { isAlive } from '../../kit/alive.ts';
import { babble, joinedAudio, silence } from '../../kit/made-audio.ts';
import { type ScratchFolder, scratchFolder } from '../../kit/scratch-folder.ts';
import { until } from '../../kit/until.ts';

let scratch: ScratchFolder;
beforeEach(() => {
  scratch = scratchFolder();
});
afterEach(() => scratch.remove());

const pcmOf = (bytes: Uint8Array) => new Int16Array(bytes.slice().buffer);
const world = () => ({
  clock: systemClock,
  runner: createRunner(),
  env: { PATH: process.env.PATH },
  fifo_path: join(scratch.path, 'pcm'),
  stop: new AbortController().signal,
});
const nowhere: EngineSettings = { engine: 'auto', models: null, grammar: null, path: '/nonexistent' };

const readIfThere = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8') : null);

/** A program that reads samples as an engine does. */
function program(script: string, load_ms = 20_000): EngineProgram {
  return {
    ...{ name: 'stand-in 1', diarizes: false, caveat: null, load_ms },
    file: process.execPath,
    args: ['--input-type=commonjs', '--eval', script],
    reader: () => liveLine,
    fault: (stderr) => stderr.trim().split('\n').at(-1) ?? '',
  };
}

/** Says after each second of audio how much it has read, and at the end that it is the end. */
const COUNTS = `
  let bytes = 0; let told = 0;
  process.stdin.on('data', (chunk) => {
    bytes += chunk.length;
    for (; (told + 1) * 32000 <= bytes; told += 1)
      process.stdout.write(JSON.stringify({ b: told, d: 1, t: 'second ' + told }) + '\\n');
  }).on('end', () => process.stdout.write(JSON.stringify({ b: bytes / 32000, d: 0, t: 'end' }) + '\\n'));`;

describe('an engine in a process of its own', () => {
  it('is given all audio, and its times count from the first sample of it', async () => {
    const engine = createChildEngine(program(COUNTS), world());
    const said: EngineSegment[] = [];
    engine.onSegment((segment) => said.push(segment));
    await engine.start();
    for (let at = 0; at < 50; at += 1) engine.push(new Int16Array(3_200));
    await engine.finish(10_000);
    const first = 131_072 / 32_000;
    expect(said.at(-1)).toMatchObject({ text: 'end', start: 10 });
    expect(said.find(({ text }) => text === 'second 6')?.start).toBeCloseTo(6 - first, 5);
    expect(readdirSync(scratch.path)).toEqual([]);
  });

  it('that ends by itself says why, once', async () => {
    const script = `process.stdin.once('data', () => process.stdin.on('data', () => {
      process.stderr.write('INFO: x\\nFATAL: out of memory\\n'); process.exit(3); }));`;
    const engine = createChildEngine(program(script), world());
    const exits: string[] = [];
    engine.onExit((why) => exits.push(why));
    await engine.start();
    const push = setInterval(() => engine.push(new Int16Array(16_000)), 20);
    await until('the exit', () => exits.length > 0);
    clearInterval(push);
    expect(exits).toEqual(['FATAL: out of memory']);
    await engine.finish(1_000);
    expect(exits).toHaveLength(1);
  });

  it('that ends while it loads, or is not there, is refused with what it said', async () => {
    const dies = createChildEngine(program(`process.stderr.write('no model\\n'); process.exit(1)`), world());
    await expect(dies.start()).rejects.toThrow('stand-in 1 cannot be used: no model');
    const missing = createChildEngine({ ...program(''), file: '/nonexistent/engine' }, world());
    await expect(missing.start()).rejects.toMatchObject({ code: 'invalid_config' });
  });

  it('that never reads is refused when its time is over, and ended', async () => {
    const script = `require('node:fs').writeFileSync('${scratch.path}/pid', String(process.pid)); setInterval(() => {}, 1000)`;
    const engine = createChildEngine(program(script, 1_500), world());
    await expect(engine.start()).rejects.toThrow('was not ready within 1.5 s');
    const pid = await until('its pid', () => readIfThere(join(scratch.path, 'pid')));
    await until('its end', () => !isAlive(Number(pid)));
  });

  it('that is stuck counts its backlog, and is ended at the deadline', async () => {
    const script = `const fs = require('node:fs'); const bytes = Buffer.alloc(65536); let read = 0;
      while (read < 100000) read += fs.readSync(0, bytes); fs.writeFileSync('${scratch.path}/pid', String(process.pid));
      setInterval(() => {}, 1000)`;
    const engine = createChildEngine(program(script), world());
    await engine.start();
    let took = true;
    for (let at = 0; at < 20; at += 1) took = engine.push(new Int16Array(16_000));
    expect(took).toBe(false);
    expect(engine.backlog_seconds).toBeGreaterThan(15);
    const pid = await until('its pid', () => readIfThere(join(scratch.path, 'pid')));
    expect(await engine.finish(300)).toBe(false);
    await until('its end', () => !isAlive(Number(pid)));
  });

  it('that is still loading is ended when the recording is stopped', async () => {
    const stop = new AbortController();
    const script = `require('node:fs').writeFileSync('${scratch.path}/pid', String(process.pid)); setInterval(() => {}, 1000)`;
    const started = createChildEngine(program(script), { ...world(), stop: stop.signal }).start();
    const pid = await until('its pid', () => readIfThere(join(scratch.path, 'pid')));
    stop.abort();
    await expect(started).rejects.toThrow('it was stopped');
    await until('its end', () => !isAlive(Number(pid)));
  });
});

describe('the choice of an engine', () => {
  it('is what finds speech alone, where nothing else is, and says of each other why', async () => {
    const found = await describeEngines(nowhere);
    expect(found.map(({ id, usable, chosen }) => [id, usable, chosen])).toEqual([
      ['sherpa', false, false],
      ['pocketsphinx', false, false],
      ['vad', true, true],
    ]);
    expect(found[0]?.says).toContain('SVC_RECORDER_MODELS');
    expect(found[1]?.says).toContain('apt-get install pocketsphinx');
    const { engine, passed_over } = await startEngine(nowhere, world());
    expect([engine.name, passed_over]).toEqual(['vad', []]);
  });

  it('is refused where one is asked for that cannot be used', async () => {
    await expect(startEngine({ ...nowhere, engine: 'sherpa' }, world())).rejects.toMatchObject({
      code: 'invalid_config',
    });
    const described = await describeEngines({ ...nowhere, engine: 'sherpa' });
    expect(described.filter(({ chosen }) => chosen)).toEqual([]);
  });

  it('knows both programs of PocketSphinx, the newer first, and needs their model and grammar', async () => {
    const folder = scratch.mkdir('bin');
    const model = scratch.mkdir('model');
    const find = (grammar: string | null = null) =>
      findPocketSphinx({ path: folder, grammar, model_folders: [model] });
    await expect(find()).rejects.toThrow('is not installed');
    chmodSync(scratch.write('bin/pocketsphinx_continuous', '#!/bin/sh\n'), 0o755);
    await expect(find()).rejects.toThrow('has no English model');
    scratch.write('model/en-us/mdef', '');
    expect((await find()).name).toBe('pocketsphinx 0.8');
    expect((await find()).args.slice(0, 4)).toEqual(['-infile', '/dev/stdin', '-time', 'yes']);
    await expect(find('/nonexistent.gram')).rejects.toThrow('SVC_RECORDER_GRAMMAR');
    const grammar = scratch.write('a.gram', '');
    expect((await find(grammar)).args.join(' ')).toContain(`-jsgf ${grammar}`);
    expect((await find(grammar)).args.join(' ')).not.toContain('-lm');
    chmodSync(scratch.write('bin/pocketsphinx', '#!/bin/sh\n'), 0o755);
    expect((await find()).name).toBe('pocketsphinx 5');
    expect((await find()).args.slice(-2)).toEqual(['live', '-']);
  });

  it('speaks with the program of version 5 by its JSON lines', async () => {
    const folder = scratch.mkdir('bin');
    scratch.write('model/en-us/mdef', '');
    const script = scratch.write('bin/counts.cjs', COUNTS);
    // What Debian has of version 5 is a stand-in here: it reads samples on stdin and writes a line for each second.
    chmodSync(
      scratch.write('bin/pocketsphinx', `#!/bin/sh\nexec '${process.execPath}' '${script}'\n`),
      0o755,
    );
    const found = await findPocketSphinx({
      path: folder,
      grammar: null,
      model_folders: [join(scratch.path, 'model')],
    });
    const engine = createChildEngine(found, world());
    const said: string[] = [];
    engine.onSegment(({ text }) => said.push(text));
    await engine.start();
    engine.push(new Int16Array(32_000));
    await engine.finish(10_000);
    expect(said.at(-1)).toBe('end');
  });
});

describe('the engine that finds speech alone', () => {
  it('finds where somebody speaks, in noise too, and not a click', () => {
    const noise = babble(30, 80);
    const audio = pcmOf(
      joinedAudio(silence(1), babble(2), silence(1.5), babble(0.1), silence(1.5), babble(3), silence(1)),
    );
    const loud = audio.map((sample, at) => sample + new Int16Array(noise.buffer)[at]!);
    for (const pcm of [audio, loud]) {
      const engine = createVadEngine();
      const said: EngineSegment[] = [];
      engine.onSegment((segment) => said.push(segment));
      for (let at = 0; at < pcm.length; at += 500) engine.push(pcm.slice(at, at + 500));
      void engine.finish(0);
      expect(said.map(({ start, end }) => [Math.round(start), Math.round(end)])).toEqual([
        [1, 3],
        [6, 9],
      ]);
      expect(said[0]?.text).toMatch(/^\[speech \d\.\d s, not transcribed\]$/);
    }
  });

  it('says what is still open at the end', async () => {
    const engine = createVadEngine();
    const said: EngineSegment[] = [];
    engine.onSegment((segment) => said.push(segment));
    engine.push(pcmOf(babble(2)));
    expect(said).toEqual([]);
    await engine.finish(0);
    expect(said).toHaveLength(1);
  });
});

describe('speakers', () => {
  it('are told apart by their voices, in the order of their appearance, eight at most', () => {
    const clusters = new SpeakerClusters();
    const voice = (nth: number, other = 0) =>
      Float32Array.from({ length: 12 }, (_, at) => (at === nth ? 1 : at === nth + 1 ? other : 0));
    expect([voice(0), voice(4), voice(0, 0.3), voice(4, 0.2)].map((one) => clusters.speakerOf(one))).toEqual([
      'S1',
      'S2',
      'S1',
      'S2',
    ]);
    for (let nth = 0; nth < 12; nth += 1) clusters.speakerOf(voice(nth));
    const all = Array.from({ length: 12 }, (_, nth) => clusters.speakerOf(voice(nth)));
    expect(new Set(all).size).toBeLessThanOrEqual(8);
    expect(clusters.speakerOf(new Float32Array(12))).toMatch(/^S\d$/);
  });
});
