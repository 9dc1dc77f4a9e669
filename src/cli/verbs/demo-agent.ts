import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { ownTerminal } from '../../platform/own-terminal.ts';
import { createRunner } from '../../platform/process.ts';
import { argument, count, option } from '../command-line/options.ts';
import { defineVerb, EXIT } from '../command-line/verb.ts';
import { runDemoAgent } from './demo/agent.ts';

/**
 * The program that the demo's agent registry starts. It accepts the options that a harness passes to its agent and
 * ignores most, and reads the launch message from standard input.
 */
export const verb = defineVerb({
  summary: 'Play an agent that works without a model (used by `svc demo`)',
  arguments: { words: argument('[words...]', 'options of the harness, which are ignored here') },
  options: {
    session_id: option('--session-id <uuid>', 'session id to write the transcript under'),
    resume: option('--resume <uuid>', 'session id of the transcript to go on with'),
    pace_ms: count('--pace-ms <ms>', 'milliseconds between two steps', 1500),
    playground: option('--playground <dir>', 'folder with the projects it may write to'),
  },
  // A harness passes its own options, which may change between versions.
  takes_any_option: true,
  examples: [['svc demo-agent <prompt.md', 'typed by `svc demo`']],
  no_json: 'it plays an agent in a terminal',
  async run(context, { session_id, resume, pace_ms, playground }) {
    const code = await runDemoAgent({
      // A person who resumes its session has a terminal there and no launch message.
      prompt: context.stdin.isTTY === true ? '' : await text(context.stdin),
      session_id: resume ?? session_id ?? randomUUID(),
      cwd: context.cwd,
      env: context.env,
      clock: context.clock,
      runner: createRunner(),
      out: context.out,
      terminal: ownTerminal(),
      pace_ms,
      playground: playground ?? null,
    });
    return code === 0 ? EXIT.ok : EXIT.refused;
  },
});
