import { shellWord } from '../../base/shell-word.ts';
import type { Pulled } from '../../config/brake-file.ts';
import type { Hold } from '../../config/hold-files.ts';
import type { BlockedView, FiberDocument } from '../../contract/fiber.ts';
import type { Gate } from '../../contract/gates.ts';
import type { StoreLease } from '../../contract/http/state.ts';
import type { BreakerEntry } from '../holds/breaker.ts';
import { describeQuickEnds } from '../holds/breaker-book.ts';
import type { Refusal } from '../holds/refusals.ts';
import { explainResources } from '../holds/resource-words.ts';
import type { ResourceHold } from '../holds/start-gate.ts';
import type { AccountLimit } from '../holds/usage-limit-book.ts';
import { describeLimit } from '../holds/usage-limits.ts';
import type { Run } from '../run/run.ts';
import { viewRun } from '../run/runs.ts';
import { mendOfLease, refusalOfLease } from '../stores/store-leases.ts';
import { SURFACES } from '../surfaces/surfaces.ts';
import type { EligibilityFacts } from './eligibility.ts';

/** What the sentences tell beyond the facts that the gates go by. */
export type WhyFacts = EligibilityFacts & {
  refusal: BlockedView | undefined;
  /** The hold on this one fiber. */
  hold: Hold | null;
  /** What the loop breaker has counted. */
  tripped: BreakerEntry | null;
  brake: Pulled | null;
  lease: StoreLease;
  limit: AccountLimit | null;
  /** What tmux said when it did not answer. */
  mux_detail: string | null;
  /** Its worker, and what the app server of an app conversation answers in place of its state. */
  run: Run | undefined;
  unserved: Refusal | null;
};

/** What a shut gate saw, and the fix with its exact command. */
export function explainGate(
  gate: Gate,
  document: FiberDocument,
  facts: WhyFacts,
): { message: string; mend: string } {
  const { id, svc } = document;
  switch (gate) {
    case 'svc_block':
      return {
        message: 'it is a plain document, without a svc block',
        mend: `make it a task of a worker with \`svc install ${shellWord(id)} --project-dir DIR\``,
      };
    case 'host':
      return svc?.host === undefined
        ? {
            message: 'it names no host that dispatches it',
            mend: `\`svc install ${shellWord(id)}\` makes this host, ${facts.host}, its own`,
          }
        : {
            message: `it belongs to host ${svc.host}, and this is ${facts.host}`,
            mend: `ask there, or take it over with \`svc install ${shellWord(id)} --host ${facts.host}\``,
          };
    case 'document':
      return {
        message: `its document cannot be read: ${document.error ?? ''}`,
        mend: `fix ${document.path} in an editor; \`svc fiber check\` says when it is right`,
      };
    case 'status':
      return explainStatus(document);
    case 'running':
      return (
        explainSurface(id, facts) ??
        explainWorker(id, facts) ?? {
          message: 'its worker runs, is starting, or may still be running',
          mend: `watch it with \`svc attach ${shellWord(id)}\``,
        }
      );
    case 'due':
      return explainDue(document, facts);
    case 'mux':
      return {
        message: `tmux has not reported which workers run${facts.mux_detail === null ? '' : ` (${facts.mux_detail})`}`,
        mend: 'nothing is started before it answers; see `svc doctor`',
      };
    case 'stopped_all': {
      const since = facts.brake?.since ?? null;
      const note = facts.brake?.note ?? null;
      return {
        message: `the emergency brake is on${since === null ? '' : ` since ${moment(since)}`}${note === null ? '' : `: ${note}`}`,
        mend: `let everything go on with \`svc resume-all\`, or start this one alone with \`svc dispatch ${shellWord(id)} --despite-brake\``,
      };
    }
    case 'data_dir':
      return {
        message: facts.data_dir_fault ?? '',
        mend: 'what is started has its record there; `svc daemon restart` begins with a new folder',
      };
    case 'store_lease':
      return {
        message: refusalOfLease(document.store, facts.lease) ?? '',
        mend: mendOfLease(facts.lease),
      };
    case 'run_elsewhere':
      return {
        message: `another daemon (${facts.elsewhere?.daemon ?? ''}) of host ${facts.host} started its worker at ${moment(facts.elsewhere?.since ?? facts.now)}, and whether it has ended is not known`,
        mend: `check there; if nothing runs, start it here with \`svc dispatch ${shellWord(id)}\`, or wait until ${moment(facts.elsewhere?.until ?? facts.now)}`,
      };
    case 'breaker':
      return {
        message: `${saidOfLoop(facts)}; it is paused until ${moment(facts.paused_until ?? facts.now)}`,
        mend: `read the last screen in \`svc status ${shellWord(id)}\`, fix the cause, then start it at once with \`svc dispatch ${shellWord(id)}\``,
      };
    case 'usage_limit':
      return {
        message: facts.limit === null ? 'its account is over a usage limit' : describeLimit(facts.limit),
        mend: `wait for it, go on with another agent by \`svc dispatch ${shellWord(id)} --agent AGENT --because-limit\`, or start it anyway with \`svc dispatch ${shellWord(id)} --force\``,
      };
    case 'held':
      return explainHold(facts, id);
    case 'cooldown':
      return {
        message: `${saidOf(facts.refusal)}; it is tried again at ${moment(facts.cooldown_until ?? facts.now)}`,
        mend: `fix that, then start it at once with \`svc dispatch ${shellWord(id)}\``,
      };
    case 'max_concurrent':
      return {
        message: `${facts.workers.count - facts.workers.resting} of at most ${facts.workers.most} workers ${facts.workers.resting === 0 ? 'run' : 'work'}; whoever has waited longest is next`,
        mend: `start it at once with \`svc dispatch ${shellWord(id)}\`, or raise max_concurrent in host.json and run \`svc daemon restart\``,
      };
    case 'resources':
      return explainHeldStart(facts.resources, id);
  }
}

function explainStatus({ id, status, svc, tempered }: FiberDocument): { message: string; mend: string } {
  const role = svc?.kind === 'standing';
  if (status === 'closed' && tempered === undefined)
    return {
      message: role
        ? 'its last run awaits review, and nothing is due before'
        : 'it is closed and awaits review',
      mend: role
        ? `accept the run with \`svc accept ${shellWord(id)}\`, or have it go on without a verdict with \`svc resume ${shellWord(id)}\``
        : `accept the work with \`svc accept ${shellWord(id)}\`, or start it again with \`svc dispatch ${shellWord(id)}\`, which arms it`,
    };
  return {
    message: `its status is ${status}, and only active fibers are started automatically`,
    mend: role
      ? `let it run on its schedule again with \`svc resume ${shellWord(id)}\``
      : `start it now with \`svc dispatch ${shellWord(id)}\`, which arms it`,
  };
}

function explainHeldStart(hold: ResourceHold | null, id: string): { message: string; mend: string } {
  if (hold === null)
    return { message: 'the machine was short of what a start needs', mend: 'it is tried again' };
  const { message, mend } = explainResources(hold);
  return { message, mend: `${mend}, or start this one at once with \`svc dispatch ${shellWord(id)}\`` };
}

function explainSurface(id: string, { run, unserved }: WhyFacts): { message: string; mend: string } | null {
  return run === undefined ? null : SURFACES[run.surface].explain(id, run, unserved);
}

/** Of a worker that needs a person: what it shows or asks, or the limit that it has met. */
function explainWorker(
  id: string,
  { run, refusal, now }: WhyFacts,
): { message: string; mend: string } | null {
  if (run === undefined) return null;
  const attach = `\`svc attach ${shellWord(id)}\``;
  if (refusal?.reason === 'startup_unconfirmed')
    return { message: refusal.message, mend: `answer what it asks: ${attach}` };
  if (refusal?.reason === 'usage_limit')
    return {
      message: refusal.message,
      mend: `wait for it and then tell the worker to go on: ${attach}; or have another agent go on with \`svc dispatch ${shellWord(id)} --agent AGENT --because-limit\``,
    };
  const { state, phase, phase_since, said, started_at } = viewRun(run, now);
  const since = phase_since === null ? '' : ` since ${moment(phase_since)}`;
  const words = said === null ? '' : `, it says: ${said.replace(/\s+/g, ' ').trim()}`;
  switch (phase) {
    case 'waiting':
      return { message: `its worker waits for an answer${since}${words}`, mend: `answer it: ${attach}` };
    case 'attention':
      return {
        message: `the last turn of its worker failed${since}${words}`,
        mend: `see what it needs: ${attach}`,
      };
    case 'idle':
      return {
        message: `its worker has ended its turn and does nothing${since}${words}`,
        mend: `tell it how to go on: ${attach}; or start afresh with \`svc dispatch ${shellWord(id)} --force\``,
      };
    case 'working':
      return { message: `its worker works${since}${words}`, mend: `watch it with ${attach}` };
    default:
      if (state === 'unknown')
        return {
          message: 'whether its worker still runs is not known, since tmux does not say',
          mend: `look at it with ${attach}; nothing else is started for it meanwhile`,
        };
      return state === 'running'
        ? {
            message: 'its worker runs; what it does now is not known',
            mend: `watch it with ${attach}`,
          }
        : {
            message: `its worker is being started, since ${moment(started_at)}`,
            mend: `watch it with ${attach}`,
          };
  }
}

function saidOfLoop({ tripped }: WhyFacts): string {
  return tripped === null
    ? 'its workers ended soon after their start, again and again'
    : describeQuickEnds(tripped);
}

function saidOf(refusal: BlockedView | undefined): string {
  if (refusal === undefined) return 'its last start was refused';
  return `${refusal.reason === 'memory_limit' ? 'its last worker was' : 'its last start was refused:'} ${refusal.message}`;
}

function explainDue(document: FiberDocument, { due }: WhyFacts): { message: string; mend: string } {
  const { id } = document;
  const mend = `run it once now with \`svc dispatch ${shellWord(id)}\``;
  if (due?.kind === 'later') return { message: `its next scheduled start is at ${moment(due.next)}`, mend };
  if (due?.kind === 'never') {
    const { schedule = '0 9 * * *' } = document.svc ?? {};
    return {
      message: due.error,
      mend:
        due.of === 'tz'
          ? `set a time zone with \`svc repeat ${shellWord(id)} --schedule ${shellWord(schedule)} --tz Europe/Paris\``
          : `write a schedule with \`svc repeat ${shellWord(id)} --schedule "0 9 * * *"\``,
    };
  }
  return {
    message: 'it is not armed, so no time of its schedule is due',
    mend: `let it run on its schedule again with \`svc resume ${shellWord(id)}\``,
  };
}

function explainHold(facts: WhyFacts, id: string): { message: string; mend: string } {
  const { held, hold } = facts;
  const mend = `let it start with \`svc resume ${shellWord(id)}\`, or start it at once with \`svc dispatch ${shellWord(id)}\``;
  const since = hold === null ? '' : ` at ${moment(hold.at)}`;
  const note = hold?.note == null ? '' : `: ${hold.note}`;
  switch (held) {
    case 'boot_quarantine':
      return {
        message: 'the daemon was restarted, and a restart is no authority to launch',
        mend: `${mend}; \`svc daemon release\` lets go everything that the restart holds`,
      };
    case 'killed':
      return { message: `a person stopped its worker${since}${note}`, mend };
    case 'clean_exit':
      return {
        message: `its agent ended with exit code 0 and without a handoff${since}, as when a person leaves it with /exit`,
        mend,
      };
    case 'loop_breaker':
      return {
        message: saidOfLoop(facts),
        mend: `read the last screen in \`svc status ${shellWord(id)}\`, fix the cause, then ${mend}`,
      };
    case 'server_lost':
      return { message: `its worker went down with the tmux server${since}`, mend };
    case 'not_concluded':
      return {
        message: 'the end of its last worker could not be written into its document yet',
        mend: `see that ${id} can be written; it is tried again with every tick, \`svc daemon logs\` says why it fails`,
      };
    default:
      return { message: `it is held: ${held ?? ''}`, mend };
  }
}

function moment(at: number): string {
  return new Date(at).toISOString();
}
