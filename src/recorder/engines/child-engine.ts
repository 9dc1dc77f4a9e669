import { type Clock, within } from '../../base/clock.ts';
import { CodedError } from '../../base/errors.ts';
import { SAMPLE_RATE } from '../../contract/recorder.ts';
import { type Fifo, openFifo } from '../../platform/fifo.ts';
import type { PipedProcess } from '../../platform/piped-process.ts';
import type { ProcessRunner } from '../../platform/process.ts';
import type { Engine, EngineSegment } from './engine.ts';

/** A program that reads samples on its stdin, and writes what was said line by line. */
export type EngineProgram = {
  /** As `Engine` has them. */
  name: string;
  diarizes: boolean;
  caveat: string | null;
  file: string;
  args: readonly string[];
  /** How long it may take to load its models, in milliseconds. */
  load_ms: number;
  /** A reader of its lines, for one run: what a line completes, if anything. */
  reader(): (line: string) => EngineSegment | null;
  /** Makes a sentence without a full stop, with the fix, of the last that it wrote to its stderr. */
  fault(stderr: string): string;
};

export type EngineWorld = {
  clock: Clock;
  runner: ProcessRunner;
  env: NodeJS.ProcessEnv;
  /** A path in a private folder, where nothing is. */
  fifo_path: string;
  /** Ends one that is still loading. */
  stop: AbortSignal;
};

const BYTES_PER_SECOND = 2 * SAMPLE_RATE;
/**
 * Silence that is given first, twice as much as a pipe holds: when the pipe has taken it, the program has loaded its models
 * and reads.
 */
const FIRST_BYTES = 131_072;
/** A line without an end is no output of an engine. */
const MOST_LINE_CHARS = 1024 * 1024;

/** An engine in a process of its own, so that nothing that becomes of it stops the recorder. */
export function createChildEngine(program: EngineProgram, world: EngineWorld): Engine {
  return new ChildEngine(program, world);
}

class ChildEngine implements Engine {
  readonly name: string;
  readonly diarizes: boolean;
  readonly caveat: string | null;
  readonly #program: EngineProgram;
  readonly #world: EngineWorld;
  readonly #ended = Promise.withResolvers<string>();
  readonly #decoder = new TextDecoder();
  #line: (line: string) => EngineSegment | null = () => null;
  #fifo: Fifo | null = null;
  #child: PipedProcess | null = null;
  #segment: (segment: EngineSegment) => void = () => undefined;
  #exit: (why: string) => void = () => undefined;
  #finishing = false;
  #rest = '';

  constructor(program: EngineProgram, world: EngineWorld) {
    this.name = program.name;
    this.diarizes = program.diarizes;
    this.caveat = program.caveat;
    this.#program = program;
    this.#world = world;
  }

  get backlog_seconds(): number {
    return (this.#fifo?.waiting ?? 0) / BYTES_PER_SECOND;
  }

  onSegment(listener: (segment: EngineSegment) => void): void {
    this.#segment = listener;
  }

  onExit(listener: (why: string) => void): void {
    this.#exit = listener;
  }

  async start(): Promise<void> {
    const { runner, env, clock, fifo_path, stop } = this.#world;
    const { file, args, load_ms, name } = this.#program;
    const fifo = await openFifo(fifo_path, runner);
    this.#fifo = fifo;
    // A group of its own: Ctrl-C in the terminal of the recorder would end it before the last words.
    const child = runner.spawnPiped({ file, args, cwd: '/', env, stdin: fifo.reader, detached: true });
    fifo.closeReader();
    this.#child = child;
    this.#line = this.#program.reader();
    child.onStdout((chunk) => this.#read(this.#decoder.decode(chunk, { stream: true })));
    child.onExit((stderr) => this.#onExit(stderr));
    const late = Promise.withResolvers<'late'>();
    const cancel = clock.after(load_ms, () => late.resolve('late'));
    const stopped = Promise.withResolvers<{ why: string }>();
    const onStop = () => stopped.resolve({ why: 'it was stopped' });
    stop.addEventListener('abort', onStop, { once: true });
    if (stop.aborted) onStop();
    const loaded = await Promise.race([
      fifo.write(new Uint8Array(FIRST_BYTES)).then(() => 'ready' as const),
      this.#ended.promise.then((why) => ({ why })),
      late.promise,
      stopped.promise,
    ]);
    cancel();
    stop.removeEventListener('abort', onStop);
    if (loaded === 'ready') return;
    this.#end();
    throw new CodedError(
      'invalid_config',
      loaded === 'late'
        ? `${name} was not ready within ${load_ms / 1_000} s; try again when this machine has less to do, or choose another engine by SVC_RECORDER_ENGINE`
        : `${name} cannot be used: ${loaded.why}`,
    );
  }

  push(pcm: Int16Array): boolean {
    const bytes = new Uint8Array(pcm.buffer, pcm.byteOffset, pcm.byteLength).slice();
    void this.#fifo?.write(bytes);
    return this.backlog_seconds < 1;
  }

  async finish(deadline_ms: number): Promise<boolean> {
    this.#finishing = true;
    this.#fifo?.end();
    const is_whole = await within(this.#world.clock, deadline_ms, this.#ended.promise);
    this.#end();
    return is_whole;
  }

  #end(): void {
    this.#finishing = true;
    this.#fifo?.destroy();
    this.#child?.kill();
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop()!.slice(-MOST_LINE_CHARS);
    for (const line of lines) {
      const segment = this.#line(line);
      if (segment !== null) this.#tell(segment);
    }
  }

  /** Its times count from the first silence on, ours from the audio after it. */
  #tell({ start, end, ...said }: EngineSegment): void {
    const before = FIRST_BYTES / BYTES_PER_SECOND;
    this.#segment({ ...said, start: Math.max(0, start - before), end: Math.max(0, end - before) });
  }

  #onExit(stderr: string): void {
    // The last line of a program may have no end.
    this.#read('\n');
    const why = this.#program.fault(stderr);
    this.#ended.resolve(why);
    if (this.#finishing) return;
    this.#end();
    this.#exit(why);
  }
}
