import { type Why, whySchema } from '../../contract/http/why.ts';
import { ON_HOST, option, SERVED_FIBER } from '../command-line/options.ts';
import { formatMoment, formatTable } from '../command-line/output.ts';
import { defineVerb } from '../command-line/verb.ts';
import { askForFiber } from '../daemon-client/daemon-of-fiber.ts';
import { deathDetails, screenLines } from './status/death.ts';

/** `svc why <fiber>`: what keeps the daemon from starting it, and what to do (LIF-2). */
export const verb = defineVerb({
  summary: 'Say why a fiber is not running, and what to do',
  arguments: { fiber: SERVED_FIBER },
  options: {
    look: option('--no-look', 'do not check its project folder or its agent program'),
    host: ON_HOST,
  },
  examples: [['svc why say-hello', 'the first condition that is not met, and what to do']],
  page: 'why.md',
  json: whySchema,
  async run(context, { fiber, look, host }) {
    const query = `fiber=${encodeURIComponent(fiber)}&look=${look ? '1' : '0'}`;
    const why = await askForFiber(context, { fiber, host }, ({ daemon }) =>
      daemon.get(`/why?${query}`, whySchema),
    );
    return { json: why, text: whyPage(why) };
  },
});

/** The first closed gate in words, then every gate. */
export function whyPage(why: Why): string {
  const shut = shutGate(why);
  const lines = [headline(why, shut)];
  if (shut?.mend !== undefined) lines.push(`What to do: ${shut.mend}.`);
  if (why.waits_since !== null)
    lines.push(`It waits for a free place since ${formatMoment(why.waits_since, why.at)}.`);
  if (why.project_dir !== null && why.verdict !== 'running')
    lines.push(
      `Its folder ${why.project_dir.path} was ${why.project_dir.looked_at ? 'looked at' : 'not looked at'}.`,
    );
  const gates = why.gates.map(({ gate, state, message }) => [gate, STATES[state], message ?? '']);
  const table = formatTable(['gate', 'state', 'seen'], gates);
  return `${lines.join('\n')}\n${screen(why)}${death(why)}\n${table}`;
}

/** The gate to tell of: a running fiber is told of as running, whatever else keeps it from being started. */
function shutGate(why: Why): Why['first'] {
  if (why.verdict !== 'running') return why.first;
  return why.gates.find(({ gate, state }) => gate === 'running' && state === 'shut') ?? why.first;
}

/** What a worker shows that has not come up. */
function screen({ blocked, at }: Why): string {
  if (blocked?.reason !== 'startup_unconfirmed' || blocked.screen === undefined) return '';
  return `Its screen ${formatMoment(blocked.attempted_at, at)}:\n${screenLines(blocked.screen)}`;
}

function death({ last_death, verdict, at }: Why): string {
  if (last_death === undefined) return '';
  const which = verdict === 'running' ? 'The worker before this one' : 'Its last worker';
  return `${which} died ${formatMoment(last_death.at, at)}: ${last_death.message}.\n${deathDetails(last_death)}`;
}

const STATES = { open: 'open', shut: 'SHUT', not_asked: 'not asked' } as const;

function headline(why: Why, shut: Why['first']): string {
  if (why.verdict === 'launches')
    return `Nothing keeps ${why.fiber_id} back; it is started with the next tick.`;
  const { verdict, fiber_id, runtime } = why;
  const state = verdict === 'running' ? `runs${inSession(runtime?.mux_session)}` : 'does not run';
  return `${fiber_id} ${state}: ${shut?.message ?? ''}.`;
}

function inSession(name: string | null | undefined): string {
  return name ? ` in ${name}` : '';
}
