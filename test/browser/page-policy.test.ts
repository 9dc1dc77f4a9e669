import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SANDBOX_SECURITY_HEADERS, SECURITY_HEADERS } from '../../src/access/security-headers.ts';
import { Chromium, NO_BROWSER } from './chromium.ts';

let server: Server;
let port: number;
let browser: Chromium;
const asked: string[] = [];

const OWN_PAGE = `<!doctype html><title>board</title><link rel="stylesheet" href="/own.css">
<p id="text" style="color: rgb(1, 2, 3)">text</p><script>window.inline = true</script>
<script src="/own.js"></script>`;
const OWN_SCRIPT = `window.own = true;
window.violations = [];
document.addEventListener('securitypolicyviolation', (event) => violations.push(event.effectiveDirective));`;
const REPORT = `<!doctype html><style>p { color: rgb(4, 5, 6) }</style><p>report</p>
<img src="/tracker.png"><img id="carried" src="data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==">
<script>window.inline = true</script><script src="/own.js"></script><iframe src="/own"></iframe>
<form action="/sent" method="post"></form><meta http-equiv="refresh" content="0; url=/moved">`;

const FILES: Record<string, { type: string; body: string; sandbox?: boolean }> = {
  '/own': { type: 'text/html', body: OWN_PAGE },
  '/own.js': { type: 'text/javascript', body: OWN_SCRIPT },
  '/own.css': { type: 'text/css', body: 'p { margin-left: 7px }' },
  '/report': { type: 'text/html', body: REPORT, sandbox: true },
  '/picture.svg': {
    type: 'image/svg+xml',
    body: '<svg xmlns="http://www.w3.org/2000/svg"><script>window.inline = true</script></svg>',
    sandbox: true,
  },
};

const TITLE = `the policy of a page, in a browser${NO_BROWSER === null ? '' : ` (${NO_BROWSER})`}`;

describe.skipIf(NO_BROWSER !== null)(TITLE, () => {
  beforeAll(async () => {
    server = createServer((request, response) => {
      const path = request.url ?? '';
      asked.push(`${request.method} ${path}`);
      const file = FILES[path];
      const headers = file?.sandbox ? SANDBOX_SECURITY_HEADERS : SECURITY_HEADERS;
      response.writeHead(file === undefined ? 404 : 200, {
        ...headers,
        'Content-Type': file?.type ?? 'text/plain',
      });
      response.end(file?.body);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as { port: number });
    browser = new Chromium({ 'evil.example': '127.0.0.1' });
  });

  afterAll(async () => {
    await browser?.close();
    server?.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const at = (path: string) => `http://127.0.0.1:${port}${path}`;

  it('runs the daemon’s own scripts and styles, and nothing inline', async () => {
    const page = await browser.open(at('/own'));
    expect(await page.learn('[window.own, window.inline]')).toEqual([true, null]);
    const style = await page.learn<string[]>(
      "[getComputedStyle(document.querySelector('p')).marginLeft, getComputedStyle(document.querySelector('p')).color]",
    );
    expect(style).toEqual(['7px', 'rgb(0, 0, 0)']);
  });

  it('turns no text into markup or a script on its own', async () => {
    const page = await browser.open(at('/own'));
    const tries = [
      "document.body.innerHTML = '<b>x</b>'",
      "document.write('x')",
      "setTimeout('window.late = 1')",
    ];
    tries.push("document.createElement('script').text = 'window.late = 1'");
    for (const attempt of tries) {
      const outcome = await page.run<string>(
        `() => { try { ${attempt}; return 'done' } catch (e) { return e.name } }`,
      );
      expect(outcome, attempt).toBe('TypeError');
    }
    expect(await page.run<string>("() => { try { return eval('1') } catch (e) { return e.name } }")).toMatch(
      /^(?:EvalError|TypeError)$/,
    );
    expect(await page.learn('typeof window.late')).toBe('undefined');
  });

  it('reaches no other origin, and has a Trusted Types policy for the sanitiser', async () => {
    const page = await browser.open(at('/own'));
    const evil = `http://evil.example:${port}/own.js`;
    asked.splice(0);
    expect(await page.run<string>('(url) => fetch(url).then(() => "read", (e) => e.name)', evil)).toBe(
      'TypeError',
    );
    expect(
      await page.run<string>(
        '(url) => new Promise((done) => { const i = new Image(); i.onload = () => done("loaded"); i.onerror = () => done("failed"); i.src = url })',
        evil,
      ),
    ).toBe('failed');
    expect(asked).toEqual([]);
    expect(
      await page.run<string>(`() => {
        const policy = trustedTypes.createPolicy('dompurify', { createHTML: (text) => text });
        document.querySelector('p').innerHTML = policy.createHTML('<b>kept</b>');
        return document.querySelector('b').textContent;
      }`),
    ).toBe('kept');
    expect(await page.learn('violations')).toContain('connect-src');
  });

  it('cannot be shown in a frame', async () => {
    const page = await browser.open(at('/own'));
    const framed = `(url) => new Promise((done) => {
      const frame = document.createElement('iframe');
      frame.onload = () => { try { done(String(frame.contentDocument?.title)) } catch (e) { done(e.name) } };
      frame.src = url;
      document.body.append(frame);
    })`;
    expect(await page.run<string>(framed, at('/own'))).not.toBe('board');
  });

  it('keeps an untrusted page from running scripts, sending requests and loading anything', async () => {
    for (const path of ['/report', '/picture.svg']) {
      asked.splice(0);
      const page = await browser.open(at(path));
      expect(await page.learn('[window.origin, typeof window.inline, typeof window.own]'), path).toEqual([
        'null',
        'undefined',
        'undefined',
      ]);
      if (path === '/report') {
        expect(await page.learn("getComputedStyle(document.querySelector('p')).color")).toBe('rgb(4, 5, 6)');
        expect(await page.learn("document.querySelector('#carried').naturalWidth")).toBe(1);
        await page.run('() => document.querySelector("form").submit()');
      }
      const further = asked.filter((one) => !['GET /favicon.ico', `GET ${path}`].includes(one));
      expect(further, path).toEqual([]);
    }
  });
});
