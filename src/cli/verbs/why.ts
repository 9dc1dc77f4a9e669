import { shellWord } from '../../base/shell-word.ts';
import { type Why, whySchema } from '../../contract/http/why.ts';
import { lengthOf } from '../command-line/fit-width.ts';
import { ON_HOST, option, SERVED_FIBER } from '../command-line/options.ts';
import { formatMoment, formatTable, withClock } from '../command-line/output.ts';
import { notOursWords, refusalWords } from '../command-line/screen-words.ts';
import { svcIn } from '../command-line/typed-command.ts';
import { defineVerb } from '../command-line/verb.ts';
import { askForFiber } from '../daemon-client/daemon-of-fiber.ts';
import { deathDetails, screenLines } from './status/death.ts';
import { triesWords } from './status/fiber-page.ts';

type Refused = NonNullable<Why['blocked']>;

/** How many lines of a dead worker's screen are shown without `--all`: its end tells most. */
const SCREEN_LINES = 3;

/** `svc why <fiber>`: what keeps the daemon from starting it, and what to do (LIF-2). */
export const verb = defineVerb({
  summary: 'Say why a fiber is not running, and what to do',
  arguments: { fiber: SERVED_FIBER },
  options: {
    all: option('--all', 'every condition of a start, and the whole last screen of a dead worker'),
    look: option('--no-look', 'do not check its project folder or its agent program'),
    host: ON_HOST,
  },
  examples: [
    ['svc why say-hello', 'the first condition that is not met, and what to do'],
    ['svc why say-hello --all', 'every condition, in the order in which the daemon checks them'],
  ],
  page: 'why.md',
  json: whySchema,
  async run(context, { fiber, all = false, look, host }) {
    const why = await askForFiber(context, { fiber, host }, (of) =>
      of.daemon.get(`/why?fiber=${encodeURIComponent(of.fiber)}&look=${look ? '1' : '0'}`, whySchema),
    );
    return { json: why, text: whyPage(why, { width: context.width, all, svc: svcIn(context) }) };
  },
});

/** The first closed gate in words and what to do; every gate with `all`. */
function whyPage(why: Why, { width, all, svc }: { width: number; all: boolean; svc: string }): string {
  const shut = shutGate(why);
  const refused = refusalOf(why, shut);
  const lines = [headline(why, shut, refused)];
  lines.push(...nextLines(why, shut, refused, { width, svc }));
  if (why.twins !== undefined)
    lines.push(
      `It shares its ULID with ${why.twins.join(' and ')}, so that none of them is started; in the copy, run: ${svc} fiber new-id <path>`,
    );
  if (why.waits_since !== null)
    lines.push(`It waits for a free place since ${formatMoment(why.waits_since, why.at)}.`);
  const head = `${lines.map((line) => withClock(line, why.at)).join('\n')}\n`;
  const shown = `${head}${screen(why)}${death(why, all)}${(why.not_ours ?? []).map((one) => `${sentence(notOursWords(one))}\n`).join('')}`;
  if (!all) return shown;
  const folder =
    why.project_dir === null || why.verdict === 'running'
      ? ''
      : `Its folder ${why.project_dir.path} was ${why.project_dir.looked_at ? 'looked at' : 'not looked at'}.\n`;
  const gates = why.gates.map(({ gate, state, message }) => [
    gate,
    STATES[state],
    withClock(message ?? '', why.at),
  ]);
  return `${shown}${folder}\n${formatTable(['gate', 'state', 'seen'], gates, width)}`;
}

/** The gate to tell of: a running fiber is told of as running, whatever else keeps it from being started. */
function shutGate(why: Why): Why['first'] {
  if (why.verdict !== 'running') return why.first;
  return why.gates.find(({ gate, state }) => gate === 'running' && state === 'shut') ?? why.first;
}

/** The refused start that is the reason, if one is. */
function refusalOf({ verdict, blocked }: Why, shut: Why['first']): Refused | null {
  if (verdict === 'running' || blocked === undefined) return null;
  return shut?.gate === 'cooldown' || shut?.gate === 'project_dir' ? blocked : null;
}

/** How often it was tried, and what to do. */
function nextLines(
  { fiber_id, at }: Why,
  shut: Why['first'],
  refused: Refused | null,
  { width, svc }: { width: number; svc: string },
): string[] {
  const mend = shut?.mend === undefined ? [] : [`What to do: ${ended(shut.mend)}`];
  if (refused === null) return mend;
  const tried = `${sentence(triesWords(refused, at))}.`;
  if (refused.reason !== 'project_dir_missing') return [tried, ...mend];
  const command = `${svc} reshape ${shellWord(fiber_id)} --project-dir <folder>`;
  const line = `${tried}   ${command}`;
  return lengthOf(line) <= width ? [line] : [tried, command];
}

/** What a worker shows that has not come up: the whole of it, since a dialog asks above its choices. */
function screen({ blocked, at }: Why): string {
  if (blocked?.reason !== 'startup_unconfirmed' || blocked.screen === undefined) return '';
  return `Its screen ${formatMoment(blocked.attempted_at, at)}:\n${screenLines(blocked.screen)}`;
}

function death({ last_death, verdict, at }: Why, all: boolean): string {
  if (last_death === undefined) return '';
  const which = verdict === 'running' ? 'The worker before this one' : 'Its last worker';
  const { screen, mend } = last_death;
  const shown = screen === undefined ? { mend } : { mend, screen: endOf(screen, all) };
  return `${which} died ${formatMoment(last_death.at, at)}: ${ended(last_death.message)}\n${deathDetails(shown)}`;
}

function endOf(screen: string, all: boolean): string {
  return all ? screen : screen.split('\n').slice(-SCREEN_LINES).join('\n');
}

const STATES = { open: 'open', shut: 'SHUT', not_asked: 'not asked' } as const;

function headline(why: Why, shut: Why['first'], refused: Refused | null): string {
  const { verdict, fiber_id, host, project_dir, at } = why;
  if (verdict === 'launches') return `Nothing keeps ${fiber_id} back; it is started with the next tick.`;
  if (refused !== null)
    return `${fiber_id} cannot start: ${refusalWords(refused, project_dir?.path, at)}${refused.reason === 'project_dir_missing' && project_dir !== null ? ` on ${host}` : ''}.`;
  return `${fiber_id} ${verdict === 'running' ? 'runs' : 'does not run'}: ${ended(shut?.message ?? '')}`;
}

/** A sentence with its full stop; what an agent said last may have an end of its own. */
function ended(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
