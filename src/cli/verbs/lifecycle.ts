import { CodedError } from '../../base/errors.ts';
import { FIBER_KINDS, WHEN_FREE_AGAIN, WHEN_IDLE } from '../../contract/fiber.ts';
import type { Rehearsal } from '../../contract/http/rehearsal.ts';
import { endsWorkers, interruptsWorkers } from '../command-line/confirm.ts';
import {
  AGENT,
  argument,
  choice,
  EFFORT,
  FIBER,
  ON_HOST,
  OUTCOME,
  option,
  PROJECT_DIR,
  required,
  surfaceOption,
  YES,
} from '../command-line/options.ts';
import type { Answer, CliContext, Example, Given, Verb } from '../command-line/verb.ts';
import { reopenWith } from './lifecycle/reopen-with.ts';
import {
  fiberWrittenSchema,
  type LifecycleFields,
  readServiceFields,
  runLifecycle,
  WRITE,
} from './lifecycle/write.ts';

type Declared<A extends Verb['arguments'], O extends Verb['options']> = {
  summary: string;
  /** In addition to the fiber. */
  arguments?: A;
  /** In addition to `WRITE`, which is appended unless it is placed among them. */
  options?: O;
  examples: readonly Example[];
  /** The request without its fiber. */
  fields(given: Given<A> & Given<O>, context: CliContext): LifecycleFields;
  /** As of every verb; what a daemon does with `--local` was asked before. */
  asks?: (given: Given<A> & Given<O>, shown: Rehearsal | null) => boolean;
  /** What is done instead with these values; null where the request is made. */
  instead?(context: CliContext, given: Given<A> & Given<O> & WriteGiven): Promise<Answer> | null;
};
type WriteGiven = { fiber: string; host: string | undefined } & Given<typeof WRITE>;

// biome-ignore lint/complexity/noBannedTypes: a verb without arguments has none of any name
function lifecycle<A extends Verb['arguments'] = {}, O extends Verb['options'] = {}>({
  fields,
  instead,
  asks,
  ...declared
}: Declared<A, O>): Verb {
  // Of some verbs, `--host` is first of all the owner.
  const owner = 'host' in (declared.options ?? {});
  return {
    ...declared,
    arguments: { fiber: FIBER, ...declared.arguments },
    options: {
      ...declared.options,
      ...(owner ? {} : { host: ON_HOST }),
      ...WRITE,
      ...(asks === undefined ? {} : { yes: YES }),
    },
    page: 'lifecycle.md',
    json: fiberWrittenSchema,
    ...(asks === undefined
      ? {}
      : {
          asks: (given: Given<A> & Given<O> & WriteGiven, shown) =>
            given.local !== true && asks(given, shown),
        }),
    run(context, given: Given<A> & Given<O> & WriteGiven) {
      const fieldsAt = (host: string | null): LifecycleFields => {
        if (host === null) return fields(given, context);
        const there = fields({ ...given, host }, context);
        // Where a fiber was found says nothing of its owner.
        return 'host' in there ? { ...there, host: given.host } : there;
      };
      return instead?.(context, given) ?? runLifecycle(context, { ...given, owner }, fieldsAt);
    },
  };
}

const SERVICE = {
  project_dir: PROJECT_DIR,
  agent: AGENT,
  effort: EFFORT,
  host: option(
    '--host <id>',
    'host that runs its workers, this one by default; a fiber that is not here is looked for there',
  ),
  surface: surfaceOption('app or cli'),
  worktree: option('--worktree', 'give it a git worktree and branch of its own when it starts'),
  anyway: option('--anyway', 'take an agent whose program is not installed here'),
};
const ACCEPTANCE = {
  auto_accept: option('--auto-accept', 'accept a run that ended without fault and left an outcome'),
  await_review: option('--await-review', 'have each run reviewed by a person again'),
};
const KILL = option('--kill', 'also stop the running worker, which goes on otherwise');
const OF_THAT_AGENT = {
  effort: option('--effort <level>', 'effort of that agent'),
  default_effort: option('--default-effort', 'clear the effort, so that the agent uses its default'),
};

/** What a request says of the acceptance of runs; undefined leaves it as it is. */
function acceptanceOf(given: { auto_accept: boolean | undefined; await_review: boolean | undefined }) {
  if (given.auto_accept === true && given.await_review === true)
    throw new CodedError('invalid_request', 'give --auto-accept or --await-review, not both');
  return given.auto_accept === true ? true : given.await_review === true ? false : undefined;
}

/** What a request says of a git worktree; undefined leaves it as it is. */
function worktreeWish(own: boolean | undefined, drop: boolean | undefined): boolean | undefined {
  if (own === true && drop === true)
    throw new CodedError('invalid_request', 'give --worktree or --drop-worktree, not both');
  return drop === true ? false : own;
}

/** The effort of a request; null removes the fiber's effort. */
function effortOf(given: { effort: string | undefined; default_effort: boolean | undefined }) {
  return given.default_effort === true ? null : given.effort;
}

/**
 * The verbs that change the service of a fiber: by the daemon's `POST /lifecycle`, or in the document itself (WPL-3).
 */
export const LIFECYCLE = {
  install: lifecycle({
    summary: 'Have a worker take up a fiber once',
    options: SERVICE,
    examples: [
      [
        'svc install say-hello --project-dir ~/my-project --agent claude-sonnet',
        'a worker takes it up in that folder',
      ],
      [
        'svc install say-hello --project-dir . --dry-run',
        'shows the change of the document and writes nothing',
      ],
    ],
    fields: (given, context) => ({ action: 'install', ...readServiceFields(context, given) }),
  }),
  repeat: lifecycle({
    summary: 'Have a worker take up a fiber on a schedule',
    options: {
      ...SERVICE,
      ...WRITE,
      schedule: required(option('--schedule <cron>', 'five cron fields, such as "0 9 * * 1-5"')),
      tz: option('--tz <zone>', 'time zone of the schedule; that of this machine otherwise'),
      ...ACCEPTANCE,
    },
    examples: [
      [
        'svc repeat triage --project-dir . --schedule "0 9 * * 1-5"',
        'every weekday at nine, in this time zone; each run waits for `svc accept triage`',
      ],
      [
        'svc repeat nightly --project-dir . --schedule "0 2 * * *" --auto-accept',
        'goes on by itself, as long as each run leaves an outcome and no fault',
      ],
    ],
    fields: ({ schedule, tz, ...given }, context) => ({
      action: 'repeat',
      ...readServiceFields(context, given),
      schedule,
      tz,
      auto_accept: acceptanceOf(given),
    }),
  }),
  pin: lifecycle({
    summary: 'Keep a fiber as a role that is started by hand',
    options: SERVICE,
    examples: [['svc pin reviewer --project-dir .', 'a role that `svc dispatch reviewer` starts']],
    fields: (given, context) => ({ action: 'pin', ...readServiceFields(context, given) }),
  }),
  reshape: lifecycle({
    summary: 'Change the kind, schedule, folder or surface of a fiber',
    options: {
      ...SERVICE,
      ...WRITE,
      kind: choice('--kind <kind>', FIBER_KINDS, 'what it becomes'),
      drop_worktree: option(
        '--drop-worktree',
        'give its git worktree up, and remove it; refused where files would be lost',
      ),
      on_limit: option(
        '--on-limit <agents>',
        'agents that take over at a usage limit, by commas; "" for none',
      ),
      after_limit: choice(
        '--after-limit <what>',
        WHEN_FREE_AGAIN,
        'what a worker does once its usage limit is over',
      ),
      when_idle: choice(
        '--when-idle <what>',
        WHEN_IDLE,
        'whether a worker that stays idle is told once that the fiber is not closed',
      ),
      schedule: option('--schedule <cron>', 'five cron fields; a new schedule counts from now'),
      tz: option('--tz <zone>', 'time zone of the schedule'),
      ...ACCEPTANCE,
    },
    examples: [
      ['svc reshape triage --schedule "0 8 * * *"', 'another schedule, counted from now'],
      [
        'svc reshape parser --on-limit codex-high,pi',
        'the first of them that is free goes on when its agent is over its usage limit',
      ],
      ['svc reshape parser --drop-worktree', 'its next worker is in the folder of the repository again'],
    ],
    fields: ({ kind, schedule, tz, on_limit, after_limit, when_idle, drop_worktree, ...given }, context) => ({
      action: 'reshape',
      ...readServiceFields(context, given),
      worktree: worktreeWish(given.worktree, drop_worktree),
      kind,
      after_limit,
      when_idle,
      on_limit: on_limit?.split(',').flatMap((agent) => agent.trim() || []),
      schedule,
      tz,
      auto_accept: acceptanceOf(given),
    }),
  }),
  pause: lifecycle({
    summary: 'Park a fiber, so that no worker takes it up',
    options: { kill: KILL },
    examples: [['svc pause triage', 'nothing starts for it until `svc resume triage`']],
    asks: ({ kill }, shown) => kill === true && endsWorkers(shown),
    fields: ({ kill }) => ({ action: 'pause', kill }),
  }),
  resume: lifecycle({
    summary: 'Let a parked, closed or awaiting fiber be taken up again',
    examples: [['svc resume triage', 'it may be taken up again']],
    fields: () => ({ action: 'resume' }),
  }),
  accept: lifecycle({
    summary: 'Accept the work, and end its worker',
    options: {
      outcome: OUTCOME,
      keep_worker: option('--keep-worker', 'let a worker that still runs go on'),
    },
    examples: [
      ['svc accept say-hello', 'the work is good: its worker is ended; a role on a schedule goes on'],
      ['svc accept say-hello --keep-worker', 'the same, and its worker goes on'],
    ],
    asks: ({ keep_worker }, shown) => keep_worker !== true && interruptsWorkers(shown),
    fields: ({ outcome, keep_worker }) => ({ action: 'accept', outcome, keep_worker }),
  }),
  close: lifecycle({
    summary: 'Close a fiber for review',
    options: { outcome: OUTCOME, kill: KILL },
    examples: [
      ['svc close say-hello --outcome "Not needed any more."', 'closes it with a line for the card'],
    ],
    asks: ({ kill }, shown) => kill === true && endsWorkers(shown),
    fields: ({ outcome, kill }) => ({ action: 'close', outcome, kill }),
  }),
  reopen: lifecycle({
    summary: 'Take a closed fiber up again',
    options: {
      message: option(
        '-m, --message <text>',
        'start its worker now, and tell it this; - reads standard input',
      ),
    },
    examples: [
      ['svc reopen say-hello', 'a worker takes the closed fiber up again'],
      ['svc reopen say-hello -m "Greet in Dutch too."', 'the same at once, with what its worker is to do'],
    ],
    fields: () => ({ action: 'reopen' }),
    instead: (context, { message, ...given }) =>
      message === undefined ? null : reopenWith(context, given, message),
  }),
  'set-agent': lifecycle({
    summary: 'Give a fiber another agent',
    arguments: { agent: argument('<agent>', 'agent of the registry; svc agents lists them') },
    options: OF_THAT_AGENT,
    examples: [['svc set-agent say-hello codex --effort high', 'its next worker is this agent']],
    fields: ({ agent, ...given }) => ({ action: 'set-agent', agent, effort: effortOf(given) }),
  }),
  'set-model': lifecycle({
    summary: 'Have a fiber worked on by another model',
    arguments: { model: argument('<model>', 'model of an agent of the registry') },
    options: OF_THAT_AGENT,
    examples: [['svc set-model say-hello sonnet', 'its next worker uses this model']],
    fields: ({ model, ...given }) => ({ action: 'set-model', model, effort: effortOf(given) }),
  }),
  'set-outcome': lifecycle({
    summary: 'Write the line that the card shows',
    arguments: { outcome: argument('<outcome>', 'one line') },
    examples: [['svc set-outcome say-hello "Greets in two languages."', 'writes the line of the card']],
    fields: ({ outcome }) => ({ action: 'set-outcome', outcome }),
  }),
  uninstall: lifecycle({
    summary: 'Make a fiber a plain document again',
    options: { kill: KILL },
    examples: [['svc uninstall say-hello', 'nothing starts for it any more']],
    // Not of one that is a plain document already.
    asks: (_given, shown) => shown === null || shown.documents.length > 0,
    fields: ({ kill }) => ({ action: 'uninstall', kill }),
  }),
} satisfies Record<LifecycleFields['action'], Verb>;
