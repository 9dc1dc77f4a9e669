import { closeSync, openSync, writeSync } from 'node:fs';

const FILE_BYTES = 64 * 1024 * 1024;
const DAYS = 14;
const SESSIONS = 400;
/** Workers at a time, and the part of each day in which they are at work. */
const AT_WORK = 4;
const WORKING_PART = 1 / 3;
/** Tool calls of one turn. */
const LEAST_CALLS = 5;
const MOST_CALLS = 45;
/** Bytes of a line, on average; it decides only how the lines are spread over the days. */
const LINE_BYTES = 347;
const FOLDERS = ['/srv/dev/loader', '/srv/dev/board', '/srv/dev/fiber-dispatch', '/home/a/notes'];
const FILES = [
  'src/index.ts',
  'src/routes/table.ts',
  'test/routes/reads.test.ts',
  'README.md',
  'docs/plan.md',
];

/**
 * Writes `path` and `<path>.1` full of lines as the hooks write them: four workers at a time, eight hours a day, whose
 * turns are a prompt, some tool calls and an end, with an event of each worker every four seconds or so. Answers the end
 * of the time that they tell of, in milliseconds.
 */
export function generateEvents(path: string): number {
  const end = Math.floor(Date.now() / 60_000) * 60_000;
  const random = sequence(7);
  const step = 2 / ((2 * FILE_BYTES) / LINE_BYTES);
  const turns = new Map<number, Turn>();
  let part = 0;
  for (const file of [`${path}.1`, path]) {
    const fd = openSync(file, 'w', 0o600);
    let size = 0;
    while (size < FILE_BYTES) {
      const lines: string[] = [];
      for (let nth = 0; nth < 2_000; nth += 1) {
        part = Math.min(1, part + random() * step);
        lines.push(eventLine(Math.min(end - 1, momentOf(part, end)), part, turns, random));
      }
      size += writeSync(fd, lines.join(''));
    }
    closeSync(fd);
  }
  return end;
}

/** When the stream is `part` of the way through: only the last hours of each day count. */
function momentOf(part: number, end: number): number {
  const day = Math.min(DAYS - 1, Math.floor(part * DAYS));
  const hours = 1 - WORKING_PART + (part * DAYS - day) * WORKING_PART;
  return Math.floor(end - (DAYS - day - hours) * 86_400_000);
}

/** Where a session is in its turn: calls still to come, and the one that goes on. */
type Turn = { calls: number; tool: { name: string; file: string } | null };

/** One line of the stream; `part` of the way through it, which tells who is at work then. */
function eventLine(timestamp: number, part: number, turns: Map<number, Turn>, random: () => number): string {
  const worker = Math.min(SESSIONS - 1, Math.floor(part * SESSIONS) + Math.floor(random() * AT_WORK));
  const turn = turns.get(worker);
  const { type, tool, machine } = next(worker, turn, turns, random);
  const line = {
    id: uuid(random),
    timestamp,
    type,
    sessionId: `5f0c2d1e-7a3b-4c5d-8e9f-${String(worker).padStart(12, '0')}`,
    cwd: FOLDERS[worker % FOLDERS.length],
    tmuxSession: `loader-01K5M8ZQ3V${String(worker).padStart(16, '0')}-svc`,
    harness: worker % 3 === 0 ? 'codex' : 'claude',
    originName: 'bench-host',
    ...(tool === null ? {} : { tool: tool.name }),
    ...(tool === null || tool.name === 'Bash'
      ? {}
      : { toolInput: { file_path: `${FOLDERS[worker % FOLDERS.length]}/${tool.file}` } }),
    ...(machine ? { machine } : {}),
  };
  return `${JSON.stringify(line)}\n`;
}

/** What a session does next, which is noted in its turn; nine prompts of ten are typed by nobody. */
function next(worker: number, turn: Turn | undefined, turns: Map<number, Turn>, random: () => number) {
  if (turn === undefined) {
    turns.set(worker, {
      calls: LEAST_CALLS + Math.floor(random() * (MOST_CALLS - LEAST_CALLS)),
      tool: null,
    });
    return { type: 'user_prompt_submit', tool: null, machine: random() < 0.9 };
  }
  const { tool } = turn;
  if (tool !== null) {
    turn.tool = null;
    turn.calls -= 1;
    return { type: 'post_tool_use', tool, machine: false };
  }
  if (turn.calls === 0) {
    turns.delete(worker);
    return { type: 'stop', tool: null, machine: false };
  }
  turn.tool = {
    name: random() < 0.3 ? 'Bash' : 'Edit',
    file: FILES[Math.floor(random() * FILES.length)] as string,
  };
  return { type: 'pre_tool_use', tool: turn.tool, machine: false };
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
