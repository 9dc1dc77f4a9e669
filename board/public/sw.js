/**
 * Keeps the page of the board and its assets, of one build, for when the daemon does not answer: the page then says so
 * itself. Nothing below `/api` is ever answered from here, so that nothing old is shown as if it were now.
 */
const PREFIX = 'board-';
/** What a page or a style sheet of a build loads at its start. */
const LOADED = /(?:src="|href="|url\()(\/assets\/[\w.-]+)/g;

let keeping = Promise.resolve();

self.addEventListener('install', (event) => {
  event.waitUntil(
    fetch('/', { cache: 'no-cache' })
      .then(keep)
      .then(() => self.skipWaiting()),
  );
});

self.addEventListener('activate', (event) => {
  event.waitUntil(self.clients.claim());
});

self.addEventListener('fetch', (event) => {
  const { request } = event;
  const { origin, pathname, searchParams } = new URL(request.url);
  if (request.method !== 'GET' || origin !== self.location.origin) return;
  // Without the daemon nothing can be recorded, so the page of a meeting is not kept in place of the board.
  if (searchParams.get('view') === 'meeting') return;
  if (request.mode === 'navigate' && pathname === '/') event.respondWith(page(event));
  else if (pathname.startsWith('/assets/')) event.respondWith(asset(request));
});

/** The page of the daemon, which is kept if it is a new one; without an answer, the page that was kept. */
async function page(event) {
  try {
    const response = await fetch(event.request);
    event.waitUntil(keep(response.clone()));
    return response;
  } catch (error) {
    const kept = await caches.match('/');
    if (kept === undefined) throw error;
    return kept;
  }
}

async function asset(request) {
  return (await caches.match(request)) ?? fetch(request);
}

/** Keeps a page with everything that it loads, then drops what was kept before; one build after the other. */
function keep(response) {
  keeping = keeping.then(() => replace(response)).catch(() => undefined);
  return keeping;
}

async function replace(response) {
  if (response.status !== 200 || !response.headers.get('content-type')?.startsWith('text/html')) return;
  const html = await response.clone().text();
  const name = `${PREFIX}${await digest(html)}`;
  const before = await caches.keys();
  if (!before.includes(name)) {
    const cache = await caches.open(name);
    try {
      await fill(cache, html);
      await cache.put('/', response);
    } catch (error) {
      await caches.delete(name);
      throw error;
    }
  }
  for (const one of before) if (one.startsWith(PREFIX) && one !== name) await caches.delete(one);
}

async function fill(cache, html) {
  const wanted = assetsIn(html);
  for (const path of wanted) {
    const response = await fetch(path);
    if (!response.ok) throw new Error(`${path} was answered with ${response.status}`);
    if (path.endsWith('.css')) for (const more of assetsIn(await response.clone().text())) wanted.add(more);
    await cache.put(path, response);
  }
}

function assetsIn(text) {
  return new Set([...text.matchAll(LOADED)].map((match) => match[1]));
}

async function digest(text) {
  const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
