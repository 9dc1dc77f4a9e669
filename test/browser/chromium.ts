import {
  type Browser,
  type BrowserContext,
  type CDPSession,
  type ConsoleMessage,
  chromium,
  type Page as Window,
} from 'playwright-core';
import { findProgram } from '../kit/find-program.ts';

const PATH = `${process.env.PATH ?? ''}:/usr/bin:/usr/lib/chromium`;
const PROGRAM = ['chromium', 'chromium-browser', 'google-chrome']
  .map((name) => findProgram(name, PATH))
  .find((path) => path !== null);

/** Why no browser can be started here, or null when one can. */
export const NO_BROWSER: string | null =
  PROGRAM === undefined ? 'there is no chromium on the PATH; install Debian’s package chromium' : null;

const FAKE_MICROPHONE = ['--use-fake-ui-for-media-stream', '--use-fake-device-for-media-stream'];

const open = new Set<Chromium>();

/** Closes the windows of every browser, as `Chromium.forget` does. */
export async function closeWindows(): Promise<void> {
  await Promise.all([...open].map((browser) => browser.forget()));
}

/** A headless browser with a profile of its own, driven over a pipe that nobody else can open. */
export class Chromium {
  readonly #browser: Promise<Browser>;
  /** Where its windows are, which share their storage; null while there is none. */
  #context: Promise<BrowserContext> | null = null;

  /**
   * `hosts` maps names to addresses, as a name server would that an attacker controls. `microphone` is a WAV file that is
   * heard once by a page that opens the microphone, which it may.
   */
  constructor(hosts: Readonly<Record<string, string>> = {}, microphone: string | null = null) {
    const rules = Object.entries(hosts).map(([name, address]) => `MAP ${name} ${address}`);
    this.#browser = chromium.launch({
      executablePath: PROGRAM ?? 'chromium',
      args: [
        ...['--disable-gpu', '--disable-dev-shm-usage', `--host-resolver-rules=${rules.join(', ')}`],
        ...(microphone === null
          ? []
          : [...FAKE_MICROPHONE, `--use-file-for-fake-audio-capture=${microphone}%noloop`]),
      ],
    });
    // It is told to whoever opens a window.
    this.#browser.catch(() => undefined);
    open.add(this);
  }

  /** A new window that shows `url`, loaded as far as its own load event; `view` is called before that. */
  async open(url: string, as: { view?(page: Page): Promise<void> } = {}): Promise<Page> {
    // Its size is that of `Page.look`, which may change it to a phone's while it is open.
    this.#context ??= this.#browser.then((browser) => browser.newContext({ viewport: null }));
    const context = await this.#context;
    const window = await context.newPage();
    const page = new Page(window, await context.newCDPSession(window));
    await as.view?.(page);
    await page.show(url);
    return page;
  }

  /**
   * Closes its windows, and drops what they have stored. A window that nobody looks at any more would go on drawing and
   * following its daemon.
   */
  async forget(): Promise<void> {
    const context = this.#context;
    this.#context = null;
    await (await context)?.close();
  }

  async close(): Promise<void> {
    open.delete(this);
    await (await this.#browser).close();
  }
}

/** What a message of the console says that a sound page never causes, refusals by its policy among them. */
function complaintOf(message: ConsoleMessage): string | null {
  const type = message.type();
  if (type !== 'error' && type !== 'warning' && type !== 'assert') return null;
  const text = message.text();
  // The browser fetches the icons when it likes, also while a test has stopped the daemon; installed.test.ts looks at them.
  return text.includes('icon from the Manifest')
    ? null
    : `console.${type}: ${text} ${message.location().url}`;
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

/** One window of the browser. */
export class Page implements Driven {
  readonly #window: Window;
  readonly #session: CDPSession;
  readonly complaints: string[] = [];
  /** Paths of the requests that write, rehearsals left out. */
  readonly writes: string[] = [];
  #scheme: NonNullable<View['scheme']> = 'light';

  constructor(window: Window, session: CDPSession) {
    this.#window = window;
    this.#session = session;
    window.on('pageerror', (error) => this.complaints.push(error.stack ?? String(error)));
    window.on('request', (request) => {
      if (request.method() === 'POST' && !(request.postData() ?? '').includes('"dry_run":true'))
        this.writes.push(new URL(request.url()).pathname);
    });
    window.on('console', (message) => {
      const complaint = complaintOf(message);
      if (complaint !== null) this.complaints.push(complaint);
    });
  }

  /** The size of the window and what its user prefers. */
  async look({ width, height, scheme = 'light', phone = false }: View): Promise<void> {
    const size = { width, height, deviceScaleFactor: phone ? 2 : 1, mobile: phone };
    await this.#session.send('Emulation.setDeviceMetricsOverride', size);
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
    await this.#window.emulateMedia({ colorScheme: scheme });
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

  press(key: string): Promise<void> {
    return this.#window.keyboard.press(key);
  }

  type(text: string): Promise<void> {
    return this.#window.keyboard.insertText(text);
  }

  /** Runs a script in every page that it shows from now on, before those of the page. */
  async before(script: string): Promise<void> {
    await this.#window.addInitScript({ content: script });
  }

  /** Types letters one after the other, with a pause in milliseconds after each that `pace` gives. */
  async typeAt(keys: Iterable<string>, pace: () => number): Promise<void> {
    for (const key of keys) {
      await this.#window.keyboard.press(key);
      await new Promise((next) => setTimeout(next, pace()));
    }
  }

  /** Keeps back what is asked for at addresses like `glob`, until what it returns lets it go, or refuses it. */
  async keepBack(glob: string): Promise<(how: 'continue' | 'abort') => void> {
    const { promise, resolve } = Promise.withResolvers<'continue' | 'abort'>();
    await this.#window
      .context()
      .route(glob, async (route) => ((await promise) === 'abort' ? route.abort() : route.continue()));
    return resolve;
  }

  /** Delays each of its requests by so many milliseconds. */
  async delayRequests(latency: number): Promise<void> {
    await this.#session.send('Network.emulateNetworkConditions', {
      ...{ offline: false, latency, downloadThroughput: -1, uploadThroughput: -1 },
    });
  }

  /** Makes its processor so many times slower. */
  async slow(rate: number): Promise<void> {
    await this.#session.send('Emulation.setCPUThrottlingRate', { rate });
  }

  /** Bytes that its script uses after a garbage collection, and how many elements the document has. */
  async weigh(): Promise<{ heap: number; elements: number }> {
    await this.#session.send('HeapProfiler.collectGarbage');
    const { usedSize } = await this.#session.send('Runtime.getHeapUsage');
    return { heap: usedSize, elements: await this.learn("document.querySelectorAll('*').length") };
  }

  /** What is shown, as a picture. */
  async photo(format: 'png' | 'webp' = 'png'): Promise<Buffer> {
    const { data } = await this.#session.send(
      'Page.captureScreenshot',
      format === 'png' ? { format } : { format, quality: 85 },
    );
    return Buffer.from(data, 'base64');
  }

  /** Moves the mouse there; presses or lets go of its left button. */
  async mouse(what: 'move' | 'down' | 'up', x: number, y: number): Promise<void> {
    const { mouse } = this.#window;
    await mouse.move(x, y);
    if (what !== 'move') await mouse[what]();
  }

  /** How many sheets of paper it takes when it is printed. */
  async sheetsOfPaper(): Promise<number> {
    const { data } = await this.#session.send('Page.printToPDF');
    return (
      Buffer.from(data, 'base64')
        .toString('latin1')
        .match(/\/Type\s*\/Page\b/g)?.length ?? 0
    );
  }

  /** The manifest of the page as the browser reads it, the addresses of its icons, and what is wrong with it. */
  async manifest(): Promise<{ manifest: Record<string, unknown>; icons: string[]; errors: unknown[] }> {
    const { data = '', errors } = await this.#session.send('Page.getAppManifest');
    const manifest = JSON.parse(data) as { icons: { src: string }[] };
    return { manifest, icons: manifest.icons.map(({ src }) => src), errors };
  }

  async show(url: string): Promise<void> {
    await this.#window.goto(url);
  }

  async run<T>(script: string, ...args: unknown[]): Promise<T> {
    return this.learn(`(${script})(...${JSON.stringify(args)})`);
  }

  async learn<T>(expression: string): Promise<T> {
    const { result, exceptionDetails } = await this.#session.send('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
      userGesture: true,
      // Otherwise the page's policy would not count while we look.
      allowUnsafeEvalBlockedByCSP: false,
    });
    if (exceptionDetails !== undefined)
      throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value as T;
  }
}
