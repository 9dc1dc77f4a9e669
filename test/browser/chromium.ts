import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { findExecutable } from '../../src/platform/find-executable.ts';

const PATH = `${process.env.PATH ?? ''}:/usr/bin:/usr/lib/chromium`;
const PROGRAM = ['chromium', 'chromium-browser', 'google-chrome']
  .map((name) => findExecutable(name, PATH))
  .find((path) => path !== null);

/** Why no browser can be started here, or null when one can. */
export const NO_BROWSER: string | null =
  PROGRAM === undefined ? 'there is no chromium on the PATH; install Debian’s package chromium' : null;

const CALL_MS = 30_000;

type Waiting = { resolve(value: unknown): void; reject(error: Error): void };
type Message = {
  id?: number;
  result?: unknown;
  error?: { message: string };
  method?: string;
  params?: unknown;
  sessionId?: string;
};

/** A headless browser with a profile of its own, driven over a pipe that nobody else can open. */
export class Chromium {
  readonly #child: ChildProcess;
  readonly #profile: string;
  readonly #in: Writable;
  readonly #waiting = new Map<number, Waiting>();
  readonly #loaded = new Map<string, () => void>();
  readonly #complaints = new Map<string, string[]>();
  #count = 0;
  #text = '';

  /** `hosts` maps names to addresses, as a name server would that an attacker controls. */
  constructor(hosts: Readonly<Record<string, string>> = {}) {
    this.#profile = mkdtempSync(join(tmpdir(), 'svc-browser-'));
    const rules = Object.entries(hosts).map(([name, address]) => `MAP ${name} ${address}`);
    this.#child = spawn(
      PROGRAM ?? 'chromium',
      [
        '--headless=new',
        '--no-sandbox',
        '--disable-gpu',
        '--disable-dev-shm-usage',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
        '--disable-popup-blocking',
        `--user-data-dir=${this.#profile}`,
        `--host-resolver-rules=${rules.join(', ')}`,
        '--remote-debugging-pipe',
        'about:blank',
      ],
      { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] },
    );
    this.#in = this.#child.stdio[3] as Writable;
    this.#in.on('error', () => undefined);
    (this.#child.stdio[4] as Readable).setEncoding('utf8').on('data', (text: string) => this.#hear(text));
    this.#child.once('exit', (code) => {
      for (const { reject } of this.#waiting.values()) reject(new Error(`the browser ended with ${code}`));
      this.#waiting.clear();
    });
  }

  /** A new window that shows `url`, loaded as far as its own load event; `view` is called before that. */
  async open(url: string, as: { view?(page: Page): Promise<void> } = {}): Promise<Page> {
    const { targetId } = (await this.call('Target.createTarget', { url: 'about:blank' })) as {
      targetId: string;
    };
    const { sessionId } = (await this.call('Target.attachToTarget', { targetId, flatten: true })) as {
      sessionId: string;
    };
    await this.call('Page.enable', {}, sessionId);
    const complaints: string[] = [];
    this.#complaints.set(sessionId, complaints);
    await this.call('Runtime.enable', {}, sessionId);
    await this.call('Log.enable', {}, sessionId);
    const page = new Page(this, sessionId, complaints);
    await as.view?.(page);
    await page.show(url);
    return page;
  }

  /** Resolves at the next load event of a window. */
  loaded(session: string): Promise<void> {
    return new Promise((resolve) => this.#loaded.set(session, resolve));
  }

  call(method: string, params: object, sessionId?: string): Promise<unknown> {
    this.#count += 1;
    const id = this.#count;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no answer to ${method}`)), CALL_MS);
      const settle = (run: () => void) => {
        clearTimeout(timer);
        run();
      };
      this.#waiting.set(id, {
        resolve: (value) => settle(() => resolve(value)),
        reject: (error) => settle(() => reject(error)),
      });
      this.#in.write(`${JSON.stringify({ id, method, params, ...(sessionId && { sessionId }) })}\0`);
    });
  }

  async close(): Promise<void> {
    const gone = new Promise<void>((resolve) => {
      if (this.#child.exitCode !== null || this.#child.signalCode !== null) resolve();
      else this.#child.once('exit', () => resolve());
    });
    const late = setTimeout(() => this.#child.kill('SIGKILL'), 10_000);
    this.call('Browser.close', {}).catch(() => undefined);
    await gone;
    clearTimeout(late);
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }

  #hear(text: string): void {
    this.#text += text;
    const messages = this.#text.split('\0');
    this.#text = messages.pop() ?? '';
    for (const message of messages) this.#take(JSON.parse(message) as Message);
  }

  #take(message: Message): void {
    if (message.method === 'Page.loadEventFired') this.#loaded.get(message.sessionId ?? '')?.();
    const complaint = complaintOf(message);
    if (complaint !== null) this.#complaints.get(message.sessionId ?? '')?.push(complaint);
    const waiting = message.id === undefined ? undefined : this.#waiting.get(message.id);
    if (message.id === undefined || waiting === undefined) return;
    this.#waiting.delete(message.id);
    if (message.error === undefined) waiting.resolve(message.result);
    else waiting.reject(new Error(message.error.message));
  }
}

/** What an event says that a sound page never causes: an exception, an error in the console, a refusal by its policy. */
function complaintOf({ method, params }: Message): string | null {
  if (method === 'Runtime.exceptionThrown') {
    const { exceptionDetails } = params as {
      exceptionDetails: { text: string; exception?: { description?: string } };
    };
    return exceptionDetails.exception?.description ?? exceptionDetails.text;
  }
  if (method === 'Runtime.consoleAPICalled') {
    const { type, args } = params as { type: string; args: { value?: unknown; description?: string }[] };
    if (type !== 'error' && type !== 'warning' && type !== 'assert') return null;
    return `console.${type}: ${args.map(({ value, description }) => String(value ?? description)).join(' ')}`;
  }
  if (method !== 'Log.entryAdded') return null;
  const { entry } = params as { entry: { level: string; text: string; url?: string } };
  return entry.level === 'error' || entry.level === 'warning' ? `${entry.text} ${entry.url ?? ''}` : null;
}

export type View = { width: number; height: number; scheme?: 'light' | 'dark'; phone?: boolean };

/** One window of the browser. */
export class Page {
  readonly #browser: Chromium;
  readonly #session: string;
  /** Exceptions, console errors and refusals of the page's policy so far. */
  readonly complaints: string[];

  constructor(browser: Chromium, session: string, complaints: string[]) {
    this.#browser = browser;
    this.#session = session;
    this.complaints = complaints;
  }

  /** The size of the window and what its user prefers. */
  async look({ width, height, scheme = 'light', phone = false }: View): Promise<void> {
    const size = { width, height, deviceScaleFactor: phone ? 2 : 1, mobile: phone };
    await this.#browser.call('Emulation.setDeviceMetricsOverride', size, this.#session);
    const features = [{ name: 'prefers-color-scheme', value: scheme }];
    await this.#browser.call('Emulation.setEmulatedMedia', { features }, this.#session);
  }

  /** Presses a key and lets go of it. */
  async press(key: string): Promise<void> {
    for (const type of ['keyDown', 'keyUp'])
      await this.#browser.call('Input.dispatchKeyEvent', { type, key }, this.#session);
  }

  async show(url: string): Promise<void> {
    const loaded = this.#browser.loaded(this.#session);
    const { errorText } = (await this.#browser.call('Page.navigate', { url }, this.#session)) as {
      errorText?: string;
    };
    if (errorText !== undefined) throw new Error(`${url}: ${errorText}`);
    await loaded;
  }

  /** Calls a function of the page, by its name or its text, and answers what it resolves to. */
  async run<T>(script: string, ...args: unknown[]): Promise<T> {
    return this.learn(`(${script})(...${JSON.stringify(args)})`);
  }

  /** Runs a script in the page, as one of its own would be run. */
  async learn<T>(expression: string): Promise<T> {
    const params = {
      expression,
      awaitPromise: true,
      returnByValue: true,
      userGesture: true,
      // Otherwise the page's policy would not count while we look.
      allowUnsafeEvalBlockedByCSP: false,
    };
    const answer = (await this.#browser.call('Runtime.evaluate', params, this.#session)) as {
      result: { value: T };
      exceptionDetails?: { exception?: { description?: string }; text: string };
    };
    const { exceptionDetails } = answer;
    if (exceptionDetails !== undefined)
      throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return answer.result.value;
  }
}
