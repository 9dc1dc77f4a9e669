import axe from 'axe-core';
import { until } from '../kit/until.ts';
import type { Driven, Page, View } from './chromium.ts';
import { DESKTOP, PHONE } from './desk-page.ts';

/** Every size that the board is looked at in; `axeFaults` looks at each in light and dark. */
export const VIEWS: readonly [string, View][] = [
  ['desktop', DESKTOP],
  ['phone', PHONE],
];

/** What is shown, as text. */
export const words = (page: Driven) => page.learn<string>('document.body.innerText');

/** Waits until a text is shown. */
export async function read(page: Driven, text: string | RegExp): Promise<string> {
  return until(`the page says ${text}`, async () => {
    const all = await words(page);
    return (typeof text === 'string' ? all.includes(text) : text.test(all)) && all;
  });
}

/** Clicks the button with this name once it can be; in the open dialog where there is one. */
export async function click(page: Driven, name: string): Promise<void> {
  await until(`the button ${name}`, () =>
    page.run<boolean>(
      `(name) => {
        const inside = document.querySelector('dialog:modal') ?? document;
        const found = [...inside.querySelectorAll('button, summary, [role=button], [role=tab]')].find(
          (one) => !one.disabled && (one.getAttribute('aria-label') ?? one.innerText).trim().split('\\n')[0] === name);
        found?.click();
        return found !== undefined;
      }`,
      name,
    ),
  );
}

/** Sets the control with this label, as a person would have. */
export async function fill(page: Driven, label: string, value: string): Promise<void> {
  await until(`the field ${label} with ${value}`, () =>
    page.run<boolean>(
      `(label, value) => {
        const named = [...document.querySelectorAll('label')].find((one) => one.innerText.trim() === label);
        const control = named?.control ?? [...document.querySelectorAll('[aria-label]')].find((one) => one.ariaLabel === label);
        if (!control || (control instanceof HTMLSelectElement && ![...control.options].some((one) => one.value === value)))
          return false;
        control.focus();
        Object.getOwnPropertyDescriptor(Object.getPrototypeOf(control), 'value').set.call(control, value);
        control.dispatchEvent(new Event(control instanceof HTMLSelectElement ? 'change' : 'input', { bubbles: true }));
        return true;
      }`,
      label,
      value,
    ),
  );
}

/** The control with this label, for a script of the page; the label may go on. */
const LABELLED = `(label) => [...document.querySelectorAll('label')].find((one) => one.innerText.trim().startsWith(label))?.control`;

/** What is in the control whose label begins so; null where there is none. */
export function textIn(page: Driven, label: string): Promise<string | null> {
  return page.run(`(label) => (${LABELLED})(label)?.value ?? null`, label);
}

/** Puts the cursor behind what is in the control whose label begins so. */
export async function focus(page: Driven, label: string): Promise<void> {
  await until(`the field ${label}`, () =>
    page.run<boolean>(
      `(label) => {
        const control = (${LABELLED})(label);
        control?.focus();
        control?.setSelectionRange(control.value.length, control.value.length);
        return control !== undefined;
      }`,
      label,
    ),
  );
}

/** Keeps the answer to the next request to a path from the page until it is released. */
export async function holdAnswer(
  page: Driven,
  path: string,
): Promise<{ arrived(): Promise<unknown>; release(): Promise<unknown> }> {
  await page.run(
    `(path) => {
      const real = window.fetch;
      const released = new Promise((release) => { window.held = { arrived: false, release }; });
      window.fetch = async (url, init) => {
        if (!String(url).endsWith(path) || init?.method !== 'POST') return real(url, init);
        window.fetch = real;
        const answer = await real(url, init);
        window.held.arrived = true;
        await released;
        return answer;
      };
    }`,
    path,
  );
  return {
    arrived: () => until(`the answer of ${path}`, () => page.learn<boolean>('window.held.arrived')),
    release: () => page.learn('window.held.release(); undefined'),
  };
}

/** What stands below the control with this label. */
export function below(page: Driven, label: string): Promise<string> {
  return page.run(
    `(label) => {
      const control = [...document.querySelectorAll('label')].find((one) => one.innerText.trim() === label)?.control;
      return document.getElementById(control?.getAttribute('aria-describedby'))?.innerText ?? '';
    }`,
    label,
  );
}

/** The serious and critical faults that axe finds, and headings out of order, in light and dark. The schemes differ in nothing but colours. */
export async function axeFaults(page: Page): Promise<unknown[]> {
  await page.learn(`window.axe ?? (() => { ${axe.source} })(); undefined`);
  const { scheme } = page;
  const found = await axeRun(page, {});
  await page.prefer(scheme === 'dark' ? 'light' : 'dark');
  found.push(...(await axeRun(page, { runOnly: ['color-contrast'] })));
  await page.prefer(scheme);
  return found;
}

async function axeRun(page: Page, options: object): Promise<unknown[]> {
  // Preloaded style sheets of a shadow root would be written into the page, against its policy.
  const found = await page.learn<
    object[]
  >(`axe.run(document, ${JSON.stringify({ preload: false, ...options })})
    .then(({ violations }) => violations
      .filter(({ id, impact }) => impact === 'serious' || impact === 'critical' || id === 'heading-order')
      .map(({ id, nodes }) => ({ id, targets: nodes.map(({ html }) => html) })))`);
  return found.map((one) => ({ scheme: page.scheme, ...one }));
}
