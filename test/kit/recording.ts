import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { type RecorderPhase, type RecorderState, recorderStateSchema } from '../../src/contract/recorder.ts';
import { until } from './until.ts';

/** How a recorder is run: its command, before the arguments of the contract, and its environment. */
export type RecorderProgram = {
  argv: readonly string[];
  env: NodeJS.ProcessEnv;
  /** In a process group of its own, as a terminal gives it one. */
  detached?: boolean;
};

/** A recorder of a test, as a daemon would start it, with its files in a folder. */
export class TestRecording {
  readonly launch = randomUUID();
  readonly state_path: string;
  readonly transcript_path: string;
  readonly audio_path: string;
  readonly #program: RecorderProgram;
  #child: ChildProcess | null = null;
  #exit: Promise<number | NodeJS.Signals> | null = null;
  /** What it printed. */
  log = '';

  constructor(program: RecorderProgram, folder: string, name = 'meeting') {
    this.#program = program;
    this.state_path = join(folder, `${name}.json`);
    this.transcript_path = join(folder, `${name}.txt`);
    this.audio_path = join(folder, `${name}.wav`);
  }

  /** Starts it; `more` are further arguments. */
  start({ mode = 'phone', more = [] }: { mode?: string; more?: readonly string[] } = {}): void {
    const [file = '', ...before] = this.#program.argv;
    const child = spawn(
      file,
      [
        ...before,
        ...['--mode', mode, '--launch', this.launch, '--name', 'meeting', '--title', 'A meeting of a test'],
        ...['--state', this.state_path, '--transcript', this.transcript_path, '--audio', this.audio_path],
        ...more,
      ],
      {
        env: this.#program.env,
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: this.#program.detached === true,
      },
    );
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (text) => {
        this.log += text;
      });
    this.#child = child;
    this.#exit = new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code, signal) => resolve(code ?? signal ?? 'SIGKILL'));
    });
  }

  get pid(): number {
    return this.#child!.pid!;
  }

  signal(name: NodeJS.Signals): void {
    this.#child!.kill(name);
  }

  /** Its exit code, or the signal that ended it. */
  exited(): Promise<number | NodeJS.Signals> {
    return this.#exit!;
  }

  /** Ends it where it still runs, however. */
  async dispose(): Promise<void> {
    if (this.#child === null || this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill('SIGKILL');
    await this.#exit;
  }

  /** Its lifecycle file as it is now; null while there is none. */
  state(): RecorderState | null {
    return existsSync(this.state_path)
      ? recorderStateSchema.parse(JSON.parse(readFileSync(this.state_path, 'utf8')))
      : null;
  }

  /** Its lifecycle file once it has this phase. */
  async when(phase: RecorderPhase, most_ms = 60_000): Promise<RecorderState> {
    return until(
      `the phase ${phase}`,
      () => {
        const state = this.state();
        if (state?.phase === 'failed' && phase !== 'failed') throw new Error(`it failed: ${state.error}`);
        return state?.phase === phase ? state : null;
      },
      most_ms,
    );
  }

  /** The lines of its transcript, without one that is not whole. */
  lines(): string[] {
    return existsSync(this.transcript_path)
      ? readFileSync(this.transcript_path, 'utf8').split('\n').slice(0, -1)
      : [];
  }

  spoken(): string[] {
    return this.lines().filter((line) => !line.startsWith('#'));
  }

  /** A line of its transcript that matches, once there is one. */
  line(pattern: RegExp, most_ms?: number): Promise<string> {
    return until(`a line ${pattern}`, () => this.lines().find((line) => pattern.test(line)), most_ms);
  }

  /** Connects a sender to its socket, once it is live. */
  async sender(): Promise<Sender> {
    const { phone } = await this.when('live');
    return connectSender(phone!);
  }
}

/** A phone that is connected to a recorder. */
export type Sender = {
  /** Sends audio in pieces of so many bytes; resolves when the kernel has all of it. */
  send(pcm: Uint8Array, piece?: number): Promise<void>;
  /** Sends audio at the pace at which it was spoken, times `speed`. */
  pace(pcm: Uint8Array, speed?: number): Promise<void>;
  /** Resolves when the connection has ended. */
  closed: Promise<void>;
  close(): void;
};

export async function connectSender(path: string): Promise<Sender> {
  const socket: Socket = connect(path);
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  socket.on('error', () => undefined);
  socket.resume();
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const write = (bytes: Uint8Array) =>
    new Promise<void>((resolve) => {
      if (socket.destroyed) resolve();
      else socket.write(bytes, () => resolve());
    });
  return {
    closed,
    async send(pcm, piece = 64_000) {
      for (let at = 0; at < pcm.length; at += piece) await write(pcm.subarray(at, at + piece));
    },
    async pace(pcm, speed = 1) {
      const from = performance.now();
      for (let at = 0; at < pcm.length; at += 640) {
        await write(pcm.subarray(at, at + 640));
        const due = from + at / 32 / speed;
        const wait = due - performance.now();
        if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
      }
    },
    close: () => socket.destroy(),
  };
}
