import { closeSync, existsSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Settings } from '../../../config/settings.ts';
import { READ_LIMITS } from '../../../platform/read-limits.ts';
import { openRegularFileSync, readAtSync } from '../../../platform/regular-file.ts';

/** A larger log is renamed to `daemon.log.1` at the next start. */
const MOST_LOG_BYTES = 16 * 1024 * 1024;

/** Output of a daemon in the background. */
export function logPath(settings: Settings): string {
  return join(settings.data_dir, 'daemon.log');
}

/** Limits the log to this file and one older file. */
export function rotateLog(path: string): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > MOST_LOG_BYTES) renameSync(path, `${path}.1`);
}

/** The last lines written after `from` (a byte offset), oldest first. */
export function lastLines(path: string, count: number, from = 0): string[] {
  if (!existsSync(path)) return [];
  const lines = endOf(path, from).split('\n');
  if (lines.at(-1) === '') lines.pop();
  return count === 0 ? [] : lines.slice(-count);
}

/** The text after `from`; if it is too long, its beginning is left out. */
function endOf(path: string, from: number): string {
  const { fd, stats } = openRegularFileSync(path);
  try {
    const { size } = stats;
    const start = Math.max(from, size - READ_LIMITS.log_end);
    const text = readAtSync(fd, Buffer.alloc(Math.max(0, size - start)), start).toString('utf8');
    return start === from ? text : text.slice(text.indexOf('\n') + 1);
  } finally {
    closeSync(fd);
  }
}

const LEVELS: Readonly<Record<number, string>> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
};
const SHOWN_APART = new Set(['level', 'time', 'component', 'msg']);

/** One log line for a person: `<time> <level> <component>: <message> key=value …`, without stacks; other text is not changed. */
export function readableLine(line: string): string {
  const record = parseRecord(line);
  if (record === null) return line;
  const time = typeof record.time === 'number' ? new Date(record.time).toISOString() : '';
  const level = LEVELS[Number(record.level)] ?? String(record.level);
  const rest = Object.entries(record)
    .filter(([key]) => !SHOWN_APART.has(key))
    .map(
      ([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value, withoutStack)}`,
    );
  const head = `${time} ${level.padEnd(5)} ${record.component ?? 'daemon'}: ${record.msg ?? ''}`;
  return [head.trimEnd(), ...rest].join(' ');
}

/** Where in the program it happened is for `--json`. */
function withoutStack(key: string, value: unknown): unknown {
  return key === 'stack' ? undefined : value;
}

/** The same as one JSON document: text that is no record, such as why a start was refused, becomes the message of one. */
export function jsonLine(line: string): string {
  return parseRecord(line) === null ? JSON.stringify({ level: 50, time: null, msg: line }) : line;
}

function parseRecord(line: string): Record<string, unknown> | null {
  if (!line.startsWith('{')) return null;
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && 'level' in value
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}
