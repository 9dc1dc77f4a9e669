import { agentStep, missingAgents } from './first-run.ts';
import type { AgentsReply, DoctorReply, State, Version } from './wire.ts';
import { sentence } from './wording.ts';

/** Something that is not as it should be, in the words of the daemon, and how to fix it. */
export type Fault = {
  key: string;
  /** `warning`: work goes on without it. */
  level: 'fault' | 'warning';
  of: string;
  what: string;
  mend: string | null;
  /** The operator file to correct. */
  file?: string;
  /** The fiber that it is about. */
  fiber?: string;
};

export type Known = {
  state?: State | undefined;
  version?: Version | undefined;
  doctor?: DoctorReply | undefined;
  agents?: AgentsReply | undefined;
};

/** Everything that is wrong with a host, worst first. */
export function faultsOf({ state, version, doctor, agents }: Known): Fault[] {
  const found = [
    ...(version === undefined ? [] : ofVersion(version)),
    ...(state === undefined ? [] : ofState(state)),
    ...(doctor === undefined ? [] : ofTools(doctor)),
    ...ofAgents(doctor, agents),
  ];
  return found.toSorted((a, b) => Number(b.level === 'fault') - Number(a.level === 'fault'));
}

function ofVersion({ components, skew }: Version): Fault[] {
  return [
    ...components
      .filter(({ state }) => state !== 'running')
      .map(({ name, state, last_error }) => ({
        key: `component ${name}`,
        level: state === 'failed' ? ('fault' as const) : ('warning' as const),
        of: name,
        what: `It is ${state}.${last_error === null ? '' : ` ${sentence(last_error)}`}`,
        mend: state === 'failed' ? 'svc daemon restart' : null,
      })),
    ...skew.map(({ of, where, what, mend }) => ({
      key: `skew ${of} ${where}`,
      level: 'warning' as const,
      of: where ?? of,
      what: sentence(what),
      mend,
    })),
  ];
}

function ofState(state: State): Fault[] {
  const {
    data_dir,
    poll_health,
    operator_file_errors,
    document_errors,
    blocked,
    deaths,
    contract,
    not_ours = [],
  } = state;
  const fault = (key: string, of: string, what: string, more: Partial<Fault> = {}): Fault => ({
    key: `${key} ${of}`,
    level: 'fault',
    of,
    what: sentence(what),
    mend: null,
    ...more,
  });
  return [
    ...(data_dir.fault === null ? [] : [fault('data', data_dir.path, data_dir.fault)]),
    ...poll_health.stores.flatMap(({ store, error, held_back }) => [
      ...(error === null ? [] : [fault('store', store, error)]),
      ...(held_back === null ? [] : [fault('lease', store, held_back.message, { mend: held_back.mend })]),
    ]),
    ...(poll_health.mux.state === 'unknown'
      ? [fault('mux', 'tmux', poll_health.mux.detail ?? 'It does not answer')]
      : []),
    ...operator_file_errors.map(({ file, error }) => fault('file', `${file}.json`, error, { file })),
    ...document_errors.first.map(({ path, error }) => fault('document', path, error)),
    ...blocked.map(({ fiber_id, message }) => fault('blocked', fiber_id, message, { fiber: fiber_id })),
    ...deaths.map(({ fiber_id, message }) =>
      fault('death', fiber_id, `Its last worker died: ${message}`, { level: 'warning', fiber: fiber_id }),
    ),
    ...not_ours.map(({ fiber_id, message, command }) =>
      fault('not-ours', fiber_id, message, {
        level: 'warning',
        fiber: fiber_id,
        mend: `End it with: ${command}`,
      }),
    ),
    ...(contract.ok
      ? []
      : [
          fault(
            'contract',
            'SVC_CLI',
            `The daemon keeps level ${contract.daemon} of the contract, its program ${contract.cli ?? 'none'}`,
            { mend: 'svc daemon restart', level: 'warning' },
          ),
        ]),
  ];
}

/** Agents are not all wanted on every machine: only what every worker needs is a fault. */
const NEEDED = ['tmux', 'git'];

function ofTools({ tools, path }: DoctorReply): Fault[] {
  return tools
    .filter((tool) => tool.path === null && NEEDED.includes(tool.name))
    .map(({ name }) => ({
      key: `tool ${name}`,
      level: name === 'tmux' ? ('fault' as const) : ('warning' as const),
      of: name,
      what: `The daemon does not find ${name}; its PATH is ${path}.`,
      mend: `install ${name}, or start the daemon from a shell that finds it: svc daemon restart`,
    }));
}

/** No worker can start without one agent program. */
function ofAgents(doctor: DoctorReply | undefined, agents: AgentsReply | undefined): Fault[] {
  if (doctor === undefined || agents === undefined) return [];
  if (missingAgents(doctor, agents).size < agents.agents.length) return [];
  const { says, command } = agentStep(doctor, agents);
  return [{ key: 'agents', level: 'fault', of: 'agents', what: says, mend: command }];
}

const OWNERS: Readonly<Record<State['poll_health']['mux']['owner']['kind'], string>> = {
  daemon_born: 'started by the daemon',
  user_born: 'started by you',
  unknown: 'the system does not tell what started it',
  absent: 'the system does not tell what started it',
};

/** How the tmux server of a host is. */
export function muxWords({ state, owner: { kind, name } }: State['poll_health']['mux']): string {
  if (state === 'absent') return 'no server runs; the first worker starts one';
  if (state === 'unknown') return 'it does not answer';
  // The root of all control groups names nobody.
  return `it runs; ${OWNERS[kind]}${name === null || name === '/' ? '' : ` (${name})`}`;
}
