import { readSettings } from '../../config/settings.ts';
import { type Why, whySchema } from '../../contract/http/why.ts';
import { formatMoment, formatTable, printJson } from '../command-line/output.ts';
import { type CliContext, EXIT, type ExitCode, type Verb } from '../command-line/verb.ts';
import { connectDaemon } from '../daemon-client/client.ts';

type Options = { look: boolean; json?: boolean };

/** `svc why <fiber>`: what keeps the daemon from starting it, and what to do (LIF-2). */
export const verb: Verb = {
  name: 'why',
  summary: 'Say why a fiber is not running, and the mend',
  register(command, context, exit) {
    command
      .argument('<fiber>', 'canonical id or uid')
      .option('--no-look', 'do not touch its project folder or ask its agent')
      .option('--json', 'answer as JSON')
      .action(async (fiber: string, options: Options) => exit(await run(context, fiber, options)));
  },
};

async function run(context: CliContext, fiber: string, options: Options): Promise<ExitCode> {
  const daemon = await connectDaemon(readSettings(context.env));
  const query = `fiber=${encodeURIComponent(fiber)}&look=${options.look ? '1' : '0'}`;
  const why = await daemon.get(`/why?${query}`, whySchema);
  if (options.json) printJson(context, why);
  else context.out(whyPage(why));
  return EXIT.ok;
}

/** The first shut gate in words, then every gate. */
export function whyPage(why: Why): string {
  const lines = [headline(why)];
  if (why.first?.mend !== undefined) lines.push(`What to do: ${why.first.mend}.`);
  if (why.waits_since !== null)
    lines.push(`It waits for a free place since ${formatMoment(why.waits_since, why.at)}.`);
  if (why.project_dir !== null && why.verdict !== 'running')
    lines.push(
      `Its folder ${why.project_dir.path} was ${why.project_dir.looked_at ? 'looked at' : 'not looked at'}.`,
    );
  const gates = why.gates.map(({ gate, state, message }) => [gate, STATES[state], message ?? '']);
  return `${lines.join('\n')}\n\n${formatTable(['gate', 'state', 'seen'], gates)}`;
}

const STATES = { open: 'open', shut: 'SHUT', not_asked: 'not asked' } as const;

function headline(why: Why): string {
  if (why.verdict === 'running')
    return `${why.fiber_id} runs${why.runtime?.mux_session ? `: ${why.runtime.mux_session}` : '.'}`;
  if (why.verdict === 'launches')
    return `Nothing keeps ${why.fiber_id} back; it is started with the next tick.`;
  return `${why.fiber_id} does not run: ${why.first?.message ?? ''}.`;
}
