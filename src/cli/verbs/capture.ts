import { resolve } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { z } from 'zod';
import { readSettings } from '../../config/settings.ts';
import { type CaptureRequest, capturedSchema, captureRefusedSchema } from '../../contract/http/capture.ts';
import { rehearsalSchema } from '../../contract/http/rehearsal.ts';
import {
  AGENT,
  argument,
  DRY_RUN,
  EFFORT,
  option,
  PROJECT_DIR,
  required,
  surfaceOption,
} from '../command-line/options.ts';
import { watchLine } from '../command-line/output.ts';
import { rehearsed } from '../command-line/rehearsal.ts';
import { defineVerb, EXIT } from '../command-line/verb.ts';
import { connectDaemon, errorOf } from '../daemon-client/client.ts';

/** `svc capture <text>`: starts a worker that makes a fiber from a text and works on it (WPL-6). */
export const verb = defineVerb({
  summary: 'Have a worker make a fiber of a text and take it up',
  arguments: { text: argument('<text>', 'what the fiber is about; - reads it from the standard input') },
  options: {
    project_dir: required(PROJECT_DIR),
    agent: AGENT,
    effort: EFFORT,
    store: option('--store <dir>', 'store that the fiber goes to'),
    surface: surfaceOption('cli or app'),
    dry_run: DRY_RUN,
  },
  examples: [
    ['svc capture "The build warns about fonts" --project-dir .', 'a worker files the fiber and takes it up'],
  ],
  page: 'sessions.md',
  json: z.union([capturedSchema, captureRefusedSchema]),
  exits: { 1: 'the capture was refused' },
  async run(context, { text, project_dir, agent, effort, store, surface, dry_run }) {
    const settings = readSettings(context.env);
    const body: CaptureRequest = {
      prompt: text === '-' ? await readText(context.stdin) : text,
      project_dir: resolve(context.cwd, project_dir),
      agent,
      effort,
      surface,
      store: store === undefined ? undefined : resolve(context.cwd, store),
      dry_run,
    };
    const answer = await (await connectDaemon(settings)).request('POST', '/capture', body);
    const refused = captureRefusedSchema.safeParse(answer.body);
    if (refused.success) {
      const { message, reason } = refused.data;
      const mend = reason === 'project_dir_missing' ? '; make it, or name another with --project-dir' : '';
      return { json: refused.data, text: '', warnings: [`${message}${mend}`], exit: EXIT.refused };
    }
    const shown = rehearsalSchema.safeParse(answer.body);
    if (shown.success) return rehearsed(shown.data);
    const captured = capturedSchema.safeParse(answer.body);
    if (!captured.success) throw errorOf(answer, '/capture');
    const { mux_session, surface: where } = captured.data;
    return {
      json: captured.data,
      text: `captured: ${captured.data.agent} in ${mux_session ?? where}\n${mux_session === null ? '' : watchLine(settings, mux_session)}`,
    };
  },
});
