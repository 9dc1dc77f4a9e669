import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Bucket } from '../../src/ledgers/events-index.ts';

const TYPES = [
  'session_start',
  'user_prompt_submit',
  'pre_tool_use',
  'post_tool_use',
  'stop',
  'stop_failure',
  'subagent_stop',
  'notification',
  'session_end',
  'message',
];

export type PlainReading = {
  buckets: Bucket[];
  sent: unknown[];
  lines: number;
  malformed: number;
};

/** What the two event files say, told by the plainest program that can: it parses every line and keeps objects. */
export function readPlainly(path: string): PlainReading {
  const buckets = new Map<string, Bucket>();
  const reading: PlainReading = { buckets: [], sent: [], lines: 0, malformed: 0 };
  for (const file of [`${path}.1`, path].filter(existsSync)) {
    const waiting = new Set<string | null>();
    const tools = new Map<string | null, number>();
    for (const text of readFileSync(file, 'utf8').split('\n').slice(0, -1)) {
      if (text.trim() === '') continue;
      const line = eventOf(text);
      if (line === null) {
        reading.malformed += 1;
        continue;
      }
      reading.lines += 1;
      const [s, cwd] = [textOf(line.sessionId), textOf(line.cwd)];
      // Of a negative zero, a zero.
      const minute = Math.floor(line.timestamp / 60_000) + 0;
      const add = (at: number, k: Bucket['k']) => {
        const key = JSON.stringify([at, s, cwd, k]);
        const bucket = buckets.get(key) ?? { m: at * 60_000, s, cwd, k, n: 0 };
        bucket.n += 1;
        buckets.set(key, bucket);
      };
      const { type } = line;
      if (line.tool === 'SendUserFile' && type === 'pre_tool_use') {
        const input = (line.toolInput ?? {}) as { files?: unknown };
        const files = (Array.isArray(input.files) ? input.files : [])
          .map(textOf)
          .filter((one) => one !== null);
        if (files.length > 0)
          reading.sent.push({
            at: line.timestamp,
            session: s,
            mux: textOf(line.tmuxSession),
            cwd,
            harness: textOf(line.harness),
            files: cwd?.startsWith('/') ? files.map((one) => resolve(cwd, one)) : files,
          });
      }
      if (!TYPES.includes(type)) continue;
      if (type === 'message') {
        add(minute, 'attention');
        continue;
      }
      if (type === 'notification') {
        if (!waiting.has(s)) add(minute, 'notify');
        waiting.add(s);
        continue;
      }
      waiting.delete(s);
      const begun = tools.get(s);
      if (type !== 'subagent_stop') tools.delete(s);
      if (type === 'user_prompt_submit' && line.machine !== true) {
        add(minute, 'attention');
        continue;
      }
      add(minute, 'agent');
      if (type === 'stop') add(minute, 'reply');
      if (type === 'pre_tool_use') tools.set(s, minute);
      if (type === 'post_tool_use' && begun !== undefined)
        for (let at = minute - 1; at > begun && at >= minute - 30; at -= 1) add(at, 'agent');
    }
  }
  reading.buckets = sorted([...buckets.values()]);
  return reading;
}

export function sorted(buckets: Bucket[]): Bucket[] {
  const key = ({ m, s, cwd, k }: Bucket) => JSON.stringify([m, s, cwd, k]);
  return buckets.sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

type Line = Record<string, unknown> & { timestamp: number; type: string };

function eventOf(text: string): Line | null {
  try {
    const line = JSON.parse(text);
    const isEvent =
      typeof line === 'object' &&
      !Array.isArray(line) &&
      typeof line.timestamp === 'number' &&
      line.timestamp >= 0 &&
      line.timestamp <= 8.64e13 &&
      textOf(line.type) !== null;
    return isEvent ? line : null;
  } catch {
    return null;
  }
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value.toWellFormed() : null;
}
