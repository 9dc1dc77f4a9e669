// Loaded before the daemon's own code: from each SIGURG to the next one it blocks the main thread for 20 ms of every 100.
import { isMainThread } from 'node:worker_threads';

const BLOCK_MS = 20;
const EVERY_MS = 100;

if (isMainThread) {
  let timer: NodeJS.Timeout | null = null;
  process.on('SIGURG', () => {
    if (timer !== null) clearInterval(timer);
    timer = timer === null ? setInterval(block, EVERY_MS) : null;
  });
}

function block(): void {
  const until = performance.now() + BLOCK_MS;
  while (performance.now() < until);
}
