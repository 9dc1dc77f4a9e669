import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { createRunner } from '../../platform/process.ts';
import { wholeNumber } from '../command-line/options.ts';
import { EXIT, type Verb } from '../command-line/verb.ts';
import { runDemoAgent } from './demo/agent.ts';

type DemoAgentOptions = { sessionId?: string; resume?: string; paceMs: number; playground?: string };

/** What the demo's agent registry starts: takes the options a harness gives its agent and ignores most,
 * and reads the launch message from standard input. */
export const verb: Verb = {
  name: 'demo-agent',
  summary: 'Play an agent that works without a model (used by `svc demo`)',
  register(command, context, exit) {
    command
      .argument('[words...]', 'options of the harness, which mean nothing here')
      // A harness gives its agent options of its own, and may give more of them tomorrow.
      .allowUnknownOption()
      .option('--session-id <uuid>', 'session id to write the transcript under')
      .option('--resume <uuid>', 'session id of the transcript to go on with')
      .option('--pace-ms <ms>', 'milliseconds between two steps', wholeNumber, 1500)
      .option('--playground <dir>', 'folder with the projects it may write to')
      .action(async (_words: string[], options: DemoAgentOptions) => {
        const code = await runDemoAgent({
          // A person who resumes its session has the terminal there, and no message.
          prompt: context.stdin.isTTY === true ? '' : await text(context.stdin),
          session_id: options.resume ?? options.sessionId ?? randomUUID(),
          cwd: context.cwd,
          env: context.env,
          clock: context.clock,
          runner: createRunner(),
          out: context.out,
          pace_ms: options.paceMs,
          playground: options.playground ?? null,
        });
        exit(code === 0 ? EXIT.ok : EXIT.refused);
      });
  },
};
