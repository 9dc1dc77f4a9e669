/** Entries are TypeScript in a checkout and JavaScript in a built package; both trees have the same layout. */
const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';

function workerUrl(name: string): URL {
  return new URL(`../../workers/${name}.${extension}`, import.meta.url);
}

/** The entry of every thread: all files of `workers/` and no other. */
export const WORKER_URLS = {
  pool: workerUrl('pool'),
  ledgers: workerUrl('ledgers'),
  fleet: workerUrl('fleet'),
  audio: workerUrl('audio'),
  messages: workerUrl('messages'),
  poller: workerUrl('poller'),
} as const;
