import { CodedError } from '../../base/errors.ts';
import { type LaunchArgument, PROMPT, pointerTo } from '../../harness/adapter.ts';
import { GROUP_FILES } from '../../platform/control-groups.ts';
import type { GroupEntry } from '../../platform/memory-groups.ts';
import { RUN_FILES } from './run-directory.ts';

/** Largest prompt given as an argument, in bytes; Linux takes 128 KiB an argument, its end mark included. */
export const MAX_PROMPT_ARGUMENT_BYTES = 120 * 1024;

/** The key of the Git configuration with the command that sets a new git worktree up, and the sign that it has run there. */
export const WORKTREE_SETUP = 'fiber-dispatch.worktreeSetup';
const SETUP_DONE = 'fiber-dispatch-setup-done';

/** Seconds that the capture of a last screen may take. */
const SCREEN_PATIENCE_S = 1;

export type RunScript = {
  /** Absolute path of the run directory. */
  run_dir: string;
  /** Absolute path the agent works in. */
  project_dir: string;
  /** argv of the agent; its `PROMPT` positions are filled from the prompt file. */
  argv: readonly LaunchArgument[];
  /** The agent's standard input is the prompt file; otherwise it is the terminal. */
  prompt_on_stdin: boolean;
  /** Variables the agent gets beside those of the tmux server; what a shell keeps for itself is left out. */
  env: Readonly<Record<string, string>>;
  /** Size of the prompt file in bytes; one that no argument can hold is pointed to instead. */
  prompt_bytes: number;
  /** The agent works in a git worktree that was made for its fiber, and that the repository may want to be set up. */
  own_worktree?: boolean;
  /** A person may start it again, as one of a past session; a worker is started once. */
  again?: boolean;
  /** How the agent enters a memory group of its own; null for none. */
  memory: GroupEntry | null;
  /** By how much the daemon goes before the agent and all that it starts, as `nice -n` takes it. */
  nice?: number;
};

/**
 * Text of `run.sh`, for any POSIX sh. Three processes come of it:
 *
 * - the outer shell, which leads the session. A hang-up ends it, and by that the kernel tells the whole
 *   foreground group, which it would not do while the leader lived on;
 * - the inner shell, which outlasts hang-up and termination, and writes `exit.json` (by rename);
 * - the agent, in the foreground with the terminal and default signals, recorded in `agent.pid` by the very
 *   process that becomes it. That process enters the agent's memory group first, so that nothing the agent starts
 *   is outside; a scope of systemd holds one shell more, which keeps what the scope tells of its memory. It becomes
 *   no agent once `end.json` is there: who ends the run writes that before it looks for `agent.pid`, so that either
 *   the one or the other sees its counterpart.
 *
 * A prompt given as an argument keeps its trailing newlines. Throws `internal` for what no script can carry (NUL, a
 * malformed name, an empty argv).
 */
export function buildRunScript(script: RunScript): string {
  const [agent] = script.argv;
  if (typeof agent !== 'string' || agent === '') throw unwritable('argv[0] must be a program');
  for (const path of [script.run_dir, script.project_dir]) {
    if (!path.startsWith('/')) throw unwritable(`${JSON.stringify(path)} is not an absolute path`);
  }
  const inRun = (name: string) => quote(`${script.run_dir}/${name}`);
  const prompt =
    script.prompt_bytes > MAX_PROMPT_ARGUMENT_BYTES
      ? quote(pointerTo(`${script.run_dir}/${RUN_FILES.prompt}`))
      : // A command substitution drops trailing newlines, so the text is read with a sign behind it.
        `$(command -p cat -- ${inRun(RUN_FILES.prompt)} && printf .)
  _svc_prompt=\${_svc_prompt%.}`;
  const words = script.argv.map((word) => (word === PROMPT ? '"$_svc_prompt"' : quote(word)));
  return `#!/bin/sh
# Starts one worker and records how it ended.
_svc_umask=$(umask)
umask 077
${script.again === true ? '' : startOnce(inRun(RUN_FILES.started))}${exports(script.env)}
record_exit() {
  printf '{"code":%s,"signal":%s%s,"at":%s000}\\n' "$1" "$2" "$3" "$(command -p date +%s)" >${inRun('exit.json.tmp')} &&
    command -p mv -f ${inRun('exit.json.tmp')} ${inRun(RUN_FILES.exit)}
}

# The last screen of an agent that nobody ended; a multiplexer that does not answer may not keep the exit waiting.
keep_screen() {
  [ -n "\${TMUX_PANE-}" ] && command -v tmux >/dev/null || return 0
  tmux capture-pane -p -t "$TMUX_PANE" >${inRun('screen.txt.tmp')} 2>/dev/null &
  _svc_capture=$!
  (command -p sleep ${SCREEN_PATIENCE_S} && kill "$_svc_capture") >/dev/null 2>&1 &
  _svc_guard=$!
  if wait "$_svc_capture"; then
    command -p mv -f ${inRun('screen.txt.tmp')} ${inRun(RUN_FILES.screen)}
  else
    command -p rm -f ${inRun('screen.txt.tmp')}
  fi
  kill "$_svc_guard" 2>/dev/null
}

# Keys that interrupt are for the agent; a caught signal is reset in what we start, an ignored one is not.
trap : INT QUIT

(
  _svc_ended_by=
  trap '_svc_ended_by=SIGHUP' HUP
  trap '_svc_ended_by=SIGTERM' TERM
  trap : INT QUIT
  if ! cd -- ${quote(script.project_dir)}; then
    record_exit null null ',"reason":"project_dir_missing"'
    exit 1
  fi
  if ! command -v ${quote(agent)} >/dev/null; then
    printf '%s: not found\\n' ${quote(agent)} >&2
    record_exit null null ',"reason":"agent_missing"'
    exit 127
  fi
  _svc_prompt=${prompt}
  umask "$_svc_umask"
  _svc_code=143
  if [ -z "$_svc_ended_by" ]; then
${runAgent(script, words)}
  fi
  umask 077
  [ -e ${inRun(RUN_FILES.end)} ] || keep_screen
  if [ "$_svc_code" -gt 128 ] && _svc_name=$(kill -l "$((_svc_code - 128))" 2>/dev/null); then
    record_exit null "\\"SIG\${_svc_name#SIG}\\"" ''
  elif [ -n "$_svc_ended_by" ]; then
    record_exit "$_svc_code" "\\"$_svc_ended_by\\"" ''
  else
    record_exit "$_svc_code" null ''
  fi
  exit "$_svc_code"
)
exit $?
`;
}

/** Lines that end a second start: a program that restores the sessions of tmux starts the script of a worker again. */
function startOnce(file: string): string {
  return `if ! (set -C; : >${file}) 2>/dev/null && [ -e ${file} ]; then
  echo 'This worker was started before, and is not started again. svc status shows what runs.' >&2
  exit 143
fi
`;
}

/** The lines that run the agent and set `_svc_code`. A group that cannot be made keeps no worker from its work. */
function runAgent(script: RunScript, words: string[]): string {
  const { memory, run_dir, nice = 0 } = script;
  const last = nice === 0 ? [] : ['command', '-p', 'nice', '-n', String(nice)];
  const input = script.prompt_on_stdin ? ` <${quote(`${run_dir}/${RUN_FILES.prompt}`)}` : '';
  const run = (before: string[], text: string) =>
    [...before, '/bin/sh', '-c', quote(text), words[0], ...words].join(' ') + input;
  const start = recordAndBecome(script, memory?.kind === 'cgroup' ? memory : null);
  const direct = `    ${run(last, start)}\n    _svc_code=$?`;
  if (memory?.kind !== 'systemd') return direct;
  return `    ${run([...last, ...memory.argv.map(quote)], insideScope(run_dir, start))} 9>&2 2>${quote(`${run_dir}/${RUN_FILES.memory_error}`)}
    _svc_code=$?
    if [ ! -e ${quote(`${run_dir}/${RUN_FILES.memory_group}`)} ]; then
  ${direct.replaceAll('\n', '\n  ')}
    fi`;
}

/** Script of the shell that stays in the scope with the agent: the scope is gone with its last process. */
function insideScope(run_dir: string, start: string): string {
  const inRun = (name: string) => quote(`${run_dir}/${name}`);
  const { events, peak, limit } = GROUP_FILES[2];
  const copies = [events, peak, limit].map(
    (name) => `command -p cat "$_svc_group/${name}" >${inRun(name)} 2>/dev/null`,
  );
  return `
exec 2>&9 9>&-
while IFS= read -r _svc_line; do
  case $_svc_line in 0::*) _svc_group=/sys/fs/cgroup\${_svc_line#0::} ;; esac
done </proc/self/cgroup
(umask 077; printf '%s\\n' "$_svc_group" >${inRun(RUN_FILES.memory_group)})
trap : INT QUIT HUP TERM
/bin/sh -c ${quote(start)} "$0" "$@"
_svc_code=$?
umask 077
${copies.join('\n')}
exit "$_svc_code"
`;
}

/** argv of the session that runs it: the only thing of a start that tmux is told. */
export function runScriptCommand(run_dir: string): string[] {
  return ['/bin/sh', `${run_dir}/${RUN_FILES.script}`];
}

/** Script of the process that writes down who it is and then becomes the agent; start times as in `platform/process-facts.ts`. */
function recordAndBecome(
  { run_dir, own_worktree = false, nice = 0 }: RunScript,
  memory: Extract<GroupEntry, { kind: 'cgroup' }> | null,
): string {
  const file = quote(`${run_dir}/${RUN_FILES.agent_pid}`);
  const temporary = quote(`${run_dir}/${RUN_FILES.agent_pid}.tmp`);
  const end = quote(`${run_dir}/${RUN_FILES.end}`);
  return `${nice === 0 ? '' : stepBack(nice)}${memory === null ? '' : enterGroup(run_dir, memory)}
_svc_start=
if [ -r "/proc/$$/stat" ]; then
  read -r _svc_stat <"/proc/$$/stat"
  _svc_start=$(printf '%s' "\${_svc_stat##*) }" | command -p cut -d ' ' -f 20)
else
  _svc_start=$(LC_ALL=C TZ=UTC0 command -p ps -o lstart= -p $$)
  _svc_start=$(printf '%s ' $_svc_start)
  _svc_start=\${_svc_start% }
fi
(umask 077; printf '{"pid":%s,"start_time":"%s"}\\n' $$ "$_svc_start" >${temporary}) && command -p mv -f ${temporary} ${file}
[ ! -e ${end} ] || exit 143
${own_worktree ? setUpOnce(quote(`${run_dir}/${RUN_FILES.setup}`)) : ''}exec "$@"
`;
}

/** A line for kernels that group processes by their sessions: there, the nice value of a process counts only in its group. */
function stepBack(nice: number): string {
  return `[ ! -w /proc/self/autogroup ] || { printf %s ${nice} >/proc/self/autogroup; } 2>/dev/null || :`;
}

/**
 * Lines that set a new git worktree up, before its first agent: the command that the Git configuration of the repository names.
 * A set-up that fails ends the run, and is tried again by the next one.
 */
function setUpOnce(output: string): string {
  return `if _svc_setup=$(git config --get ${WORKTREE_SETUP}) && _svc_done=$(git rev-parse --git-path ${SETUP_DONE}) && [ ! -e "$_svc_done" ]; then
  printf 'Setting up this git worktree: %s\n' "$_svc_setup"
  { _svc_code=$({ { /bin/sh -c "$_svc_setup" </dev/null 2>&1 3>&- 4>&-; printf %s $? >&3; } | command -p tee ${output} >&4; } 3>&1); } 4>&1
  if [ "$_svc_code" != 0 ]; then
    printf 'The set-up of this git worktree failed with %s; all that it printed is in %s\n' "$_svc_code" ${output} >&2
    exit "\${_svc_code:-1}"
  fi
  : >"$_svc_done"
fi
`;
}

/** Lines by which a shell moves itself into a group that it makes; swap is limited where the kernel counts it. */
function enterGroup(run_dir: string, { folder, files }: Extract<GroupEntry, { kind: 'cgroup' }>): string {
  const inRun = (name: string) => quote(`${run_dir}/${name}`);
  const inGroup = (name: string) => quote(`${folder}/${name}`);
  const writes = files.map(
    ([name, text]) => `{ [ ! -e ${inGroup(name)} ] || printf %s ${quote(text)} >${inGroup(name)}; }`,
  );
  const steps = [`command -p mkdir ${quote(folder)}`, ...writes, `printf 0 >${inGroup('cgroup.procs')}`];
  return `
(umask 077; : >${inRun(RUN_FILES.memory_error)})
if ${steps.join(' && ')}; then
  (umask 077; printf '%s\\n' ${quote(folder)} >${inRun(RUN_FILES.memory_group)})
fi 2>${inRun(RUN_FILES.memory_error)}`;
}

/** Variables that a shell keeps for itself or that would change how this script is read. */
const OF_THE_SHELL =
  /^(_|_svc_.*|IFS|ENV|OPTIND|OPTARG|PPID|PWD|OLDPWD|UID|EUID|GROUPS|BASHOPTS|SHELLOPTS|BASH_.*|PS[124]|LINENO|SHLVL)$/;

function exports(env: Readonly<Record<string, string>>): string {
  return Object.entries(env)
    .filter(([name]) => !OF_THE_SHELL.test(name))
    .map(([name, value]) => {
      if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
        throw unwritable(`${JSON.stringify(name)} cannot name an environment variable`);
      }
      return `export ${name}=${quote(value)}\n`;
    })
    .join('');
}

/** A word in single quotes, in which a POSIX shell reads nothing specially. */
function quote(word: string): string {
  if (word.includes('\0')) throw unwritable('a value holds a NUL character');
  if (!word.isWellFormed()) throw unwritable('a value is not well-formed Unicode');
  return `'${word.replaceAll("'", "'\\''")}'`;
}

function unwritable(what: string): CodedError {
  return new CodedError('internal', `The run script could not be written: ${what}.`);
}

/** The words of a command, with a sign where the launch message goes. */
export function shownArgv(argv: readonly unknown[]): string[] {
  return argv.map((argument) => (typeof argument === 'string' ? argument : '<prompt>'));
}
