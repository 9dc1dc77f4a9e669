import { closeSync, openSync, writeSync } from 'node:fs';

const FILE_BYTES = 64 * 1024 * 1024;
const DAYS = 14;
const SESSIONS = 400;
const FOLDERS = ['/srv/dev/loader', '/srv/dev/board', '/srv/dev/fiber-dispatch', '/home/a/notes'];
const FILES = [
  'src/index.ts',
  'src/routes/table.ts',
  'test/routes/reads.test.ts',
  'README.md',
  'docs/plan.md',
];

/**
 * Writes `path` and `<path>.1` full of lines as the hooks write them: workers that take turns, of prompts, tool calls
 * and ends. Answers the end of the time that they tell of, in milliseconds.
 */
export function generateEvents(path: string): number {
  const end = Math.floor(Date.now() / 60_000) * 60_000;
  const random = sequence(7);
  const average = 420;
  const step = (DAYS * 86_400_000) / ((2 * FILE_BYTES) / average);
  let at = end - DAYS * 86_400_000;
  for (const file of [`${path}.1`, path]) {
    const fd = openSync(file, 'w', 0o600);
    let size = 0;
    while (size < FILE_BYTES) {
      const lines: string[] = [];
      for (let nth = 0; nth < 2_000; nth += 1) {
        at = Math.min(end - 1, at + random() * 2 * step);
        lines.push(eventLine(Math.floor(at), (at - (end - DAYS * 86_400_000)) / (DAYS * 86_400_000), random));
      }
      size += writeSync(fd, lines.join(''));
    }
    closeSync(fd);
  }
  return end;
}

/** One line of the stream; `part` of the way through it, which tells who is at work then. */
function eventLine(timestamp: number, part: number, random: () => number): string {
  const worker = Math.min(SESSIONS - 1, Math.floor(part * SESSIONS) + Math.floor(random() * 4));
  const dice = random();
  const isTool = dice < 0.86;
  const line = {
    id: uuid(random),
    timestamp,
    type: isTool
      ? dice < 0.43
        ? 'pre_tool_use'
        : 'post_tool_use'
      : dice < 0.93
        ? 'stop'
        : 'user_prompt_submit',
    sessionId: `5f0c2d1e-7a3b-4c5d-8e9f-${String(worker).padStart(12, '0')}`,
    cwd: FOLDERS[worker % FOLDERS.length],
    tmuxSession: `loader-01K5M8ZQ3V${String(worker).padStart(16, '0')}-svc`,
    harness: worker % 3 === 0 ? 'codex' : 'claude',
    originName: 'bench-host',
    ...(isTool ? { tool: dice < 0.2 ? 'Bash' : 'Edit' } : {}),
    ...(isTool && dice >= 0.2
      ? { toolInput: { file_path: `${FOLDERS[worker % FOLDERS.length]}/${FILES[Math.floor(random() * 5)]}` } }
      : {}),
    ...(dice > 0.98 ? { machine: true } : {}),
  };
  return `${JSON.stringify(line)}\n`;
}

function uuid(random: () => number): string {
  const hex = () =>
    Math.floor(random() * 2 ** 32)
      .toString(16)
      .padStart(8, '0');
  const text = hex() + hex() + hex() + hex();
  return `${text.slice(0, 8)}-${text.slice(8, 12)}-${text.slice(12, 16)}-${text.slice(16, 20)}-${text.slice(20)}`;
}

function sequence(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
