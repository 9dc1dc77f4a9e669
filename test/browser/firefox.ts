import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import puppeteer, { type Browser, type KeyInput, type Page } from 'puppeteer-core';
import { loopbackEnvironment } from '../kit/caller-environment.ts';
import { findProgram } from '../kit/find-program.ts';
import type { Driven } from './chromium.ts';

const PROGRAM = ['firefox-esr', 'firefox']
  .map((name) => findProgram(name, `${process.env.PATH ?? ''}:/usr/bin:/usr/lib/firefox-esr`))
  .find((path) => path !== null);

/** Why no Firefox can be started here, or null when one can. */
export const NO_FIREFOX: string | null =
  PROGRAM === undefined ? 'there is no firefox on the PATH; install Debian’s package firefox-esr' : null;

/** A headless Firefox with a home and a profile of its own, driven over WebDriver BiDi. */
export class Firefox {
  readonly #home = mkdtempSync(join(tmpdir(), 'svc-firefox-'));
  #browser: Browser | null = null;

  async start(): Promise<void> {
    this.#browser = await puppeteer.launch({
      browser: 'firefox',
      executablePath: PROGRAM ?? 'firefox-esr',
      headless: true,
      userDataDir: join(this.#home, 'profile'),
      // A page that opens the microphone may.
      extraPrefsFirefox: {
        'media.navigator.streams.fake': true,
        'media.navigator.permission.disabled': true,
      },
      // It refuses a home that is not its user's own.
      env: { ...loopbackEnvironment(), HOME: this.#home, MOZ_CRASHREPORTER_DISABLE: '1' },
    });
  }

  /** A new window of this size that shows `url`. */
  async open(url: string, size: { width: number; height: number }): Promise<FirefoxPage> {
    if (this.#browser === null) throw new Error('the browser has not been started');
    const page = await this.#browser.newPage();
    await page.setViewport(size);
    const driven = new FirefoxPage(page);
    await page.goto(url);
    return driven;
  }

  async close(): Promise<void> {
    await this.#browser?.close();
    rmSync(this.#home, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}

/** One window of Firefox. */
export class FirefoxPage implements Driven {
  readonly #page: Page;
  /** What its policy refuses is among the errors. */
  readonly complaints: string[] = [];
  /** Address of everything that was asked for so far. */
  readonly asked: string[] = [];

  constructor(page: Page) {
    this.#page = page;
    page.on('pageerror', (error) => this.complaints.push(String(error)));
    page.on('console', (message) => {
      if (['error', 'warn', 'assert'].includes(message.type()))
        this.complaints.push(`console.${message.type()}: ${message.text()}`);
    });
    page.on('request', (request) => this.asked.push(request.url()));
  }

  learn<T>(expression: string): Promise<T> {
    return this.#page.evaluate(expression) as Promise<T>;
  }

  run<T>(script: string, ...args: unknown[]): Promise<T> {
    return this.learn(`(${script})(...${JSON.stringify(args)})`);
  }

  press(key: string): Promise<void> {
    return this.#page.keyboard.press(key as KeyInput);
  }

  type(text: string): Promise<void> {
    return this.#page.keyboard.type(text);
  }

  /** Clicks with the mouse in the middle of the first element that fits. */
  click(selector: string): Promise<void> {
    return this.#page.click(selector);
  }
}
