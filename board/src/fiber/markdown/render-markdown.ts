import { htmlOf } from './html-of.ts';
import workerUrl from './markdown-worker.ts?worker&url';

/** A longer text would keep the page from being drawn for more than a moment. */
const LONG_CHARS = 30_000;

const waiting = new Map<number, (html: string) => void>();
let worker: Worker | null = null;
let last = 0;

/** Markup of a markdown text; of a long one later, from a worker. It is not sanitised yet. */
export function renderMarkdown(markdown: string): string | Promise<string> {
  if (markdown.length <= LONG_CHARS) return htmlOf(markdown);
  worker ??= startWorker();
  last += 1;
  const number = last;
  worker.postMessage({ number, markdown });
  return new Promise((resolve) => waiting.set(number, resolve));
}

function startWorker(): Worker {
  const started = new Worker(trusted(workerUrl), { type: 'module' });
  started.onmessage = ({ data }: MessageEvent<{ number: number; html: string }>) => {
    waiting.get(data.number)?.(data.html);
    waiting.delete(data.number);
  };
  return started;
}

type Policies = { createPolicy(name: string, rules: object): { createScriptURL(url: string): string } };

/** The page's policy lets a script be named only by a policy; older browsers have none. */
function trusted(url: string): string {
  const { trustedTypes } = globalThis as { trustedTypes?: Policies };
  return (
    trustedTypes
      ?.createPolicy('svc-markdown-worker', { createScriptURL: (text: string) => text })
      .createScriptURL(url) ?? url
  );
}
