import { readSettings } from '../../config/settings.ts';
import { type Why, whySchema } from '../../contract/http/why.ts';
import { option, SERVED_FIBER } from '../command-line/options.ts';
import { formatMoment, formatTable } from '../command-line/output.ts';
import { defineVerb } from '../command-line/verb.ts';
import { connectDaemon } from '../daemon-client/client.ts';

/** `svc why <fiber>`: what keeps the daemon from starting it, and what to do (LIF-2). */
export const verb = defineVerb({
  summary: 'Say why a fiber is not running, and what to do',
  arguments: { fiber: SERVED_FIBER },
  options: { look: option('--no-look', 'do not check its project folder or its agent program') },
  examples: [['svc why say-hello', 'the first condition that is not met, and what to do']],
  page: 'why.md',
  json: whySchema,
  async run(context, { fiber, look }) {
    const daemon = await connectDaemon(readSettings(context.env));
    const query = `fiber=${encodeURIComponent(fiber)}&look=${look ? '1' : '0'}`;
    const why = await daemon.get(`/why?${query}`, whySchema);
    return { json: why, text: whyPage(why) };
  },
});

/** The first closed gate in words, then every gate. */
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
