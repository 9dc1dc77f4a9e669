import type { AgentsReply, DoctorReply, State, StoreOrigin } from './wire.ts';

export type StepName = 'tmux' | 'agent' | 'store' | 'launches' | 'task';

/** One thing that a host needs before its first worker runs. */
export type Step = {
  name: StepName;
  title: string;
  /** Null while it is not known. */
  done: boolean | null;
  /** What was found, or what is missing. */
  says: string;
  /** A command that closes the gap, where the daemon cannot. */
  command: string | null;
};

/** What the host has told so far. */
export type HostFacts = {
  doctor?: DoctorReply | undefined;
  agents?: AgentsReply | undefined;
  origin?: StoreOrigin | undefined;
  state?: State | undefined;
};

/** From nothing to the first task, in the order in which the gaps are closed. */
export function firstSteps({ doctor, agents, origin, state }: HostFacts): readonly Step[] {
  return [tmux(doctor), agentStep(doctor, agents), store(origin), launches(state), TASK];
}

const TASK: Step = {
  name: 'task',
  title: 'A first task',
  done: false,
  says: 'Stash writes a draft that waits for you; Capture starts a worker on it at once.',
  command: null,
};

function tmux(doctor: DoctorReply | undefined): Step {
  const found = doctor?.tools.find(({ name }) => name === 'tmux');
  const step = { name: 'tmux', title: 'tmux, in which workers run' } as const;
  if (doctor === undefined) return { ...step, ...LOOKING };
  if (found?.path != null) return { ...step, done: true, says: found.version ?? found.path, command: null };
  return {
    ...step,
    done: false,
    says: `The daemon does not find it; its PATH is ${doctor.path}. Install tmux, then look again.`,
    command: 'svc doctor',
  };
}

/** Whether a worker can be started: an agent program that is found and not signed out. */
export function agentStep(doctor: DoctorReply | undefined, agents: AgentsReply | undefined): Step {
  const step = { name: 'agent', title: 'A coding agent' } as const;
  if (doctor === undefined || agents === undefined) return { ...step, ...LOOKING };
  const missing = missingAgents(doctor, agents);
  const usable = agents.agents.filter(({ id }) => !missing.has(id));
  if (usable.length === 0)
    return {
      ...step,
      done: false,
      says: `None of ${listOf([...new Set(agents.agents.map(({ cli }) => cli))])} is found. Install one and sign in to it, then look again.`,
      command: 'svc doctor',
    };
  const names = listOf([...new Set(usable.map(({ cli }) => cli))]);
  const states = usable.map(({ id }) => doctor.agents.find((one) => one.id === id));
  if (states.every((one) => one?.signed_in === false)) {
    const mends = [...new Set(states.flatMap((one) => one?.mend ?? []))];
    return {
      ...step,
      done: false,
      says: `${names} found, and nobody is signed in. To sign in, ${mends.join('; or ')}. Then look again.`,
      command: null,
    };
  }
  const ready = usable.filter((_, index) => states[index]?.signed_in === true);
  const signed = ready.length === 0 ? null : listOf([...new Set(ready.map(({ cli }) => cli))]);
  return {
    ...step,
    done: true,
    says:
      signed === null
        ? `${names} found. Whether you are signed in cannot be told from here; svc doctor checks a start.`
        : `${names} found, signed in to ${signed}.`,
    command: null,
  };
}

/** The ids of the agents whose program the daemon does not find. */
export function missingAgents(doctor: DoctorReply, { agents }: AgentsReply): ReadonlySet<string> {
  const found = new Set(doctor.tools.flatMap(({ name, path }) => (path === null ? [] : [name])));
  return new Set(agents.flatMap(({ id, cli }) => (found.has(cli) ? [] : [id])));
}

function store(origin: StoreOrigin | undefined): Step {
  const step = { name: 'store', title: 'A folder for your tasks' } as const;
  if (origin === undefined) return { ...step, ...LOOKING };
  if (origin.stores.length > 0) return { ...step, done: true, says: listOf(origin.stores), command: null };
  return {
    ...step,
    done: false,
    says: 'Choose the folder of a project: its tasks are kept in it, as markdown files.',
    command: null,
  };
}

function launches(state: State | undefined): Step {
  const step = { name: 'launches', title: 'Permission to launch' } as const;
  if (state === undefined) return { ...step, ...LOOKING };
  if (!state.boot_quarantine.active)
    return { ...step, done: true, says: 'Workers start as soon as a task is due.', command: null };
  return {
    ...step,
    done: false,
    says: 'After each start the daemon waits for you before it launches anything by itself.',
    command: null,
  };
}

const LOOKING = { done: null, says: 'Looking …', command: null } as const;

function listOf(names: readonly string[]): string {
  return names.length < 2 ? (names[0] ?? 'no agent') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
