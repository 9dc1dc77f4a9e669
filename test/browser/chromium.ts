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

const open = new Set<Chromium>();

/** Closes the windows of every browser, as `Chromium.forget` does. */
export async function closeWindows(): Promise<void> {
  await Promise.all([...open].map((browser) => browser.forget()));
}

/** A headless browser with a profile of its own, driven over a pipe that nobody else can open. */
export class Chromium {
  readonly #child: ChildProcess;
  readonly #profile: string;
  readonly #in: Writable;
  readonly #waiting = new Map<number, Waiting>();
  readonly #loaded = new Map<string, () => void>();
  readonly #complaints = new Map<string, string[]>();
  /** Where its windows are, which share their storage; null while there is none. */
  #context: string | null = null;
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
    open.add(this);
    this.#in = this.#child.stdio[3] as Writable;
    this.#in.on('error', () => undefined);
    (this.#child.stdio[4] as Readable).setEncoding('utf8').on('data', (text: string) => this.#hear(text));
    this.#child.once('exit', (code) => {
      open.delete(this);
      for (const { reject } of this.#waiting.values()) reject(new Error(`the browser ended with ${code}`));
      this.#waiting.clear();
    });
  }

  /** A new window that shows `url`, loaded as far as its own load event; `view` is called before that. */
  async open(url: string, as: { view?(page: Page): Promise<void> } = {}): Promise<Page> {
    this.#context ??= (
      (await this.call('Target.createBrowserContext', {})) as { browserContextId: string }
    ).browserContextId;
    const { targetId } = (await this.call('Target.createTarget', {
      url: 'about:blank',
      browserContextId: this.#context,
    })) as { targetId: string };
    const { sessionId } = (await this.call('Target.attachToTarget', { targetId, flatten: true })) as {
      sessionId: string;
    };
    await this.call('Page.enable', {}, sessionId);
    const complaints: string[] = [];
    this.#complaints.set(sessionId, complaints);
    await this.call('Runtime.enable', {}, sessionId);
    await this.call('Log.enable', {}, sessionId);
    // What is typed goes to the window with the focus, which another one may have.
    await this.call('Emulation.setFocusEmulationEnabled', { enabled: true }, sessionId);
    const page = new Page(this, sessionId, complaints);
    await as.view?.(page);
    await page.show(url);
    return page;
  }

  /**
   * Closes its windows, and drops what they have stored. A window that nobody looks at any more would go on drawing and
   * following its daemon.
   */
  async forget(): Promise<void> {
    if (this.#context === null) return;
    const browserContextId = this.#context;
    this.#context = null;
    this.#complaints.clear();
    this.#loaded.clear();
    await this.call('Target.disposeBrowserContext', { browserContextId });
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
  // The browser fetches the icons when it likes, also while a test has stopped the daemon; installed.test.ts looks at them.
  if (entry.text.includes('icon from the Manifest')) return null;
  return entry.level === 'error' || entry.level === 'warning' ? `${entry.text} ${entry.url ?? ''}` : null;
}

/** What drives a window, of whichever browser. */
export interface Driven {
  /** Exceptions, console errors and refusals of the page's policy so far. */
  readonly complaints: string[];
  /** Runs a script in the page, as one of its own would be run. */
  learn<T>(expression: string): Promise<T>;
  /** Calls a function of the page, by its name or its text, and answers what it resolves to. */
  run<T>(script: string, ...args: unknown[]): Promise<T>;
  /** Presses a key and lets go of it. */
  press(key: string): Promise<void>;
  /** Types a text into what has the focus. */
  type(text: string): Promise<void>;
}

export type View = { width: number; height: number; scheme?: 'light' | 'dark'; phone?: boolean };

/** Keys at which a browser does something itself, as closing a dialog or pressing a button. */
const KEYS: Readonly<Record<string, { windowsVirtualKeyCode: number; text?: string }>> = {
  Escape: { windowsVirtualKeyCode: 27 },
  Enter: { windowsVirtualKeyCode: 13, text: '\r' },
  Tab: { windowsVirtualKeyCode: 9 },
};

/** One window of the browser. */
export class Page implements Driven {
  readonly #browser: Chromium;
  readonly #session: string;
  readonly complaints: string[];
  #scheme: NonNullable<View['scheme']> = 'light';

  constructor(browser: Chromium, session: string, complaints: string[]) {
    this.#browser = browser;
    this.#session = session;
    this.complaints = complaints;
  }

  /** The size of the window and what its user prefers. */
  async look({ width, height, scheme = 'light', phone = false }: View): Promise<void> {
    const size = { width, height, deviceScaleFactor: phone ? 2 : 1, mobile: phone };
    await this.#browser.call('Emulation.setDeviceMetricsOverride', size, this.#session);
    await this.#preferred(scheme);
  }

  get scheme(): NonNullable<View['scheme']> {
    return this.#scheme;
  }

  /** The colours that its user prefers from now on; resolves once the page has them. */
  async prefer(scheme: NonNullable<View['scheme']>): Promise<void> {
    await this.#preferred(scheme);
    await this.settled();
  }

  async #preferred(scheme: NonNullable<View['scheme']>): Promise<void> {
    this.#scheme = scheme;
    const features = [{ name: 'prefers-color-scheme', value: scheme }];
    await this.#browser.call('Emulation.setEmulatedMedia', { features }, this.#session);
  }

  /** Resolves when nothing moves or fades any more, but for what does so for ever. */
  async settled(): Promise<void> {
    await this.learn(`(async () => {
      const frame = () => new Promise(requestAnimationFrame);
      await frame();
      await frame();
      await Promise.allSettled(document.getAnimations()
        .filter((one) => one.effect.getComputedTiming().endTime !== Infinity)
        .map((one) => one.finished));
    })()`);
  }

  /** Presses a key and lets go of it; with what the browser itself does at it where it is one of `KEYS`. */
  async press(key: string): Promise<void> {
    const known = KEYS[key];
    for (const type of ['keyDown', 'keyUp']) {
      const params = known === undefined ? { type, key } : { type, key, ...known };
      await this.#browser.call('Input.dispatchKeyEvent', params, this.#session);
    }
  }

  async type(text: string): Promise<void> {
    await this.#browser.call('Input.insertText', { text }, this.#session);
  }

  /** Makes its processor so many times slower. */
  async slow(rate: number): Promise<void> {
    await this.#browser.call('Emulation.setCPUThrottlingRate', { rate }, this.#session);
  }

  /** Bytes that its script uses after a garbage collection, and how many elements the document has. */
  async weigh(): Promise<{ heap: number; elements: number }> {
    await this.#browser.call('HeapProfiler.collectGarbage', {}, this.#session);
    const { usedSize } = (await this.#browser.call('Runtime.getHeapUsage', {}, this.#session)) as {
      usedSize: number;
    };
    return { heap: usedSize, elements: await this.learn("document.querySelectorAll('*').length") };
  }

  /** What is shown, as a picture. */
  async photo(format: 'png' | 'webp' = 'png'): Promise<Buffer> {
    const { data } = (await this.#browser.call(
      'Page.captureScreenshot',
      format === 'png' ? { format } : { format, quality: 85 },
      this.#session,
    )) as { data: string };
    return Buffer.from(data, 'base64');
  }

  /** Moves the mouse there, presses or lets go of its left button. */
  async mouse(type: 'mouseMoved' | 'mousePressed' | 'mouseReleased', x: number, y: number): Promise<void> {
    const buttons = type === 'mouseReleased' ? {} : { buttons: 1 };
    const params = { type, x, y, button: 'left', clickCount: 1, ...buttons };
    await this.#browser.call('Input.dispatchMouseEvent', params, this.#session);
  }

  /** The manifest of the page as the browser reads it, the addresses of its icons, and what is wrong with it. */
  async manifest(): Promise<{ manifest: Record<string, unknown>; icons: string[]; errors: unknown[] }> {
    const { data, errors } = (await this.#browser.call('Page.getAppManifest', {}, this.#session)) as {
      data: string;
      errors: unknown[];
    };
    const manifest = JSON.parse(data) as { icons: { src: string }[] };
    return { manifest, icons: manifest.icons.map(({ src }) => src), errors };
  }

  async show(url: string): Promise<void> {
    const loaded = this.#browser.loaded(this.#session);
    const { errorText } = (await this.#browser.call('Page.navigate', { url }, this.#session)) as {
      errorText?: string;
    };
    if (errorText !== undefined) throw new Error(`${url}: ${errorText}`);
    await loaded;
  }

  async run<T>(script: string, ...args: unknown[]): Promise<T> {
    return this.learn(`(${script})(...${JSON.stringify(args)})`);
  }

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
