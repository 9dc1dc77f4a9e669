import { trustedScript } from '../../lib/trusted-script.ts';
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
  const started = new Worker(trustedScript(workerUrl), { type: 'module' });
  started.onmessage = ({ data }: MessageEvent<{ number: number; html: string }>) => {
    waiting.get(data.number)?.(data.html);
    waiting.delete(data.number);
  };
  return started;
}
