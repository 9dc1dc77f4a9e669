import { closeSync, existsSync, statSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { z } from 'zod';
import { sleep } from '../../../base/clock.ts';
import { readSettings, type Settings } from '../../../config/settings.ts';
import { openRegularFileSync, readAtSync } from '../../../platform/regular-file.ts';
import { count, JSON_OPTION, option } from '../../command-line/options.ts';
import { type CliContext, defineVerb, EXIT, type ExitCode } from '../../command-line/verb.ts';
import { jsonLine, lastLines, logPath, readableLine } from './log-file.ts';

const FOLLOW_STEP_MS = 250;
const CHUNK_BYTES = 64 * 1024;

export const verb = defineVerb({
  summary: 'Show the log of the daemon that was started in the background',
  options: {
    follow: option('-f, --follow', 'keep showing new lines until interrupted'),
    lines: count('-n, --lines <count>', 'how many lines to show first', 50),
    json: { ...JSON_OPTION, description: 'show the lines as JSON, one document each' },
  },
  examples: [['svc daemon logs -f -n 20', 'the last 20 lines, then every new one']],
  page: 'daemon.md',
  json: z.looseObject({ level: z.number(), time: z.unknown(), msg: z.string() }),
  run: (context, given) => runLogs(context, readSettings(context.env), given),
});

/** Prints the end of the log; with `follow`, also new lines until the command is interrupted. */
export async function runLogs(
  context: CliContext,
  settings: Settings,
  options: { follow?: boolean; lines: number; json?: boolean },
): Promise<ExitCode> {
  const path = logPath(settings);
  const show = (line: string) => context.out(`${options.json ? jsonLine(line) : readableLine(line)}\n`);
  let offset = sizeOf(path);
  if (!existsSync(path) && !options.follow) {
    context.err(`svc: there is no log at ${path}; it is written when svc daemon start has run\n`);
    return EXIT.refused;
  }
  for (const line of lastLines(path, options.lines)) show(line);
  if (!options.follow) return EXIT.ok;
  let torn = '';
  let decoder = new StringDecoder('utf8');
  for (;;) {
    await sleep(context.clock, FOLLOW_STEP_MS);
    const size = sizeOf(path);
    if (size < offset) {
      offset = 0;
      torn = '';
      decoder = new StringDecoder('utf8');
    }
    while (offset < size) {
      const bytes = readAt(path, offset);
      if (bytes.length === 0) break;
      offset += bytes.length;
      const lines = (torn + decoder.write(bytes)).split('\n');
      torn = lines.pop() ?? '';
      for (const line of lines) show(line);
    }
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function readAt(path: string, offset: number): Buffer {
  const { fd } = openRegularFileSync(path);
  try {
    return readAtSync(fd, Buffer.alloc(CHUNK_BYTES), offset);
  } finally {
    closeSync(fd);
  }
}
