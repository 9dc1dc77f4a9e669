import { CodedError } from '../base/errors.ts';
import type { PaneAddress, ScreenMark } from './mux.ts';
import { isSessionName } from './session-name.ts';

/**
 * The one place where tmux command text is made. A word is either literal text or a session target that was validated
 * here. A command is a list of words; a sequence is several commands.
 */
export type TmuxCommand = readonly string[];

/** Largest command, in bytes, that a tmux client run with argv can send to its server, with a margin. */
export const MAX_ARGV_BYTES = 15_000;

/** The session with this stable id, as a target. */
export function idTarget(id: string): string {
  if (!/^\$\d{1,18}$/.test(id)) throw refused(`${JSON.stringify(id)} is not a tmux session id`);
  return id;
}

/** The session with exactly this name: a bare name would also match by prefix and by pattern. */
export function nameTarget(name: string): string {
  if (!isSessionName(name)) throw refused(`${JSON.stringify(name)} is no name that a session keeps`);
  return `=${name}`;
}

/** The current pane of a session target; pane and window targets are only exact with a colon. */
export function paneOf(sessionTarget: string): string {
  return `${sessionTarget}:`;
}

/**
 * A value for `-s` or `-c`, which tmux expands: the server would run `#(…)` as a shell command. `##` gives a literal
 * `#`; tmux does not unescape a run of `#` before `[`.
 */
export function literalFormat(text: string): string {
  return text.replaceAll(/#+(?![#[])/g, (run) => run + run);
}

/** Text inside `#{…}`, where a comma or a brace would end it. */
function literalArgument(text: string): string {
  return literalFormat(text).replaceAll(/[,}]/g, '#$&');
}

/** A line for a control client: every word in single quotes, inside which tmux interprets nothing. */
export function controlLine(...commands: readonly TmuxCommand[]): string {
  return commands.map((words) => words.map(quoteWord).join(' ')).join(' ; ');
}

/** argv for running tmux. A `;` at the end of a word is escaped, since it would end the command. */
export function commandArgv(...commands: readonly TmuxCommand[]): string[] {
  const argv: string[] = [];
  for (const words of commands) {
    if (argv.length > 0) argv.push(';');
    for (const word of words) {
      refuseControlCharacters(word);
      argv.push(word.replace(/;$/, '\\;'));
    }
  }
  if (argv.reduce((sum, word) => sum + Buffer.byteLength(word) + 1, 0) > MAX_ARGV_BYTES) {
    throw refused(`the command is over ${MAX_ARGV_BYTES} bytes, more than a tmux client can send`);
  }
  return argv;
}

/**
 * Format of one line of `list-panes`: the session name and the end of a command that starts a `run.sh`. Both may contain
 * spaces, and no session name holds a colon. tmux writes a line feed in a command as two characters.
 */
const PANE_FORMAT = [
  '#{session_id}',
  '#{session_created}',
  '#{session_attached_list}',
  '#{pane_id}',
  '#{pane_pid}',
  '#{pane_dead}',
  '#{pid}:#{start_time}',
  '#{version}',
  '#{exit-unattached}',
  '#{session_name}:#{?#{m:*.sh*,#{pane_start_command}},#{=-250:pane_start_command},}',
].join(' ');

export function listPanes(): TmuxCommand {
  return ['list-panes', '-a', '-F', PANE_FORMAT];
}

/** How a server that has no session refuses `listPanes`. */
export const NO_SESSION = 'no current target';

/** Prints the id of each session, and nothing where there is none. */
export function listSessions(): TmuxCommand {
  return ['list-sessions', '-F', '#{session_id}'];
}

/**
 * Makes a detached session, prints its id, and sets its options. The options are left as they are where a hook of the user
 * has renamed the session in between; `ownSession` sets them then.
 */
export function newSession(spec: {
  name: string;
  cwd: string | null;
  command: readonly string[];
  columns: number;
  rows: number;
}): TmuxCommand[] {
  const target = paneOf(nameTarget(spec.name));
  if (spec.command.length < 2) {
    // tmux hands a single argument to a shell; two or more it executes directly.
    throw refused('a session’s command needs at least two arguments, or tmux would give it to a shell');
  }
  return [
    [
      'new-session',
      '-d',
      // A variable that the user has tmux take over from each client would be taken from ours, or removed.
      '-E',
      '-P',
      '-F',
      '#{session_id} #{pane_pid}',
      '-x',
      String(spec.columns),
      '-y',
      String(spec.rows),
      '-s',
      literalFormat(spec.name),
      ...(spec.cwd === null ? [] : ['-c', literalFormat(spec.cwd)]),
      '--',
      ...spec.command,
    ],
    ['if-shell', '-F', '-t', target, isNamed(spec.name), ownOptions(nameTarget(spec.name))],
  ];
}

/** Options of the user that would end a session of ours at once, or keep its dead pane, and in whose place it has its own. */
function ownOptions(session: string): string {
  return [
    `set-option -t ${quoteWord(paneOf(session))} destroy-unattached off`,
    `set-option -w -t ${quoteWord(`${session}:^`)} remain-on-exit off`,
  ].join(' ; ');
}

/** Gives a session that a hook of the user has renamed its name again, and its options. */
export function ownSession(id: string, name: string): TmuxCommand[] {
  const target = paneOf(idTarget(id));
  return [
    ['if-shell', '-F', '-t', target, `#{==:#{session_id},${id}}`, ownOptions(id)],
    ['rename-session', '-t', id, literalFormat(name)],
  ];
}

/** Prints the hooks that the user has set. */
export function showHooks(): TmuxCommand {
  return ['show-hooks', '-g'];
}

/** Prints whether the server ends with its last client. */
export function showExitUnattached(): TmuxCommand {
  return ['display-message', '-p', '#{exit-unattached}'];
}

/** What `killGuarded` prints when no session has this id and name. */
export const NOT_THAT_SESSION = 'not-that-session';

/** Ends the session with this id if it still has this name; the server checks and acts in one step. */
export function killGuarded(target: { id: string; name: string }): TmuxCommand {
  nameTarget(target.name);
  return ifSession(target, `kill-session -t '${target.id}'`);
}

/** Renames the session with this id if it still has this name. */
export function renameGuarded(target: { id: string; name: string }, name: string): TmuxCommand {
  nameTarget(name);
  return ifSession(target, `rename-session -t '${target.id}' ${quoteWord(literalFormat(name))}`);
}

function ifSession({ id, name }: { id: string; name: string }, then: string): TmuxCommand {
  const otherwise = `display-message -p ${NOT_THAT_SESSION}`;
  return ['if-shell', '-F', '-t', paneOf(idTarget(id)), isNamed(name), then, otherwise];
}

/** False too where the target is gone: tmux then asks about the session of the client. */
function isNamed(name: string): string {
  return `#{==:#{session_name},${literalArgument(name)}}`;
}

export function killById(id: string): TmuxCommand {
  return ['kill-session', '-t', idTarget(id)];
}

/** Ends the session of this name if its pane was started with this program. */
export function killStartedWith(name: string, [program, argument]: readonly [string, string]): TmuxCommand {
  const target = nameTarget(name);
  const started = `#{==:#{pane_start_command},${literalArgument(`${program} ${argument}`)}}`;
  return ['if-shell', '-F', '-t', paneOf(target), started, `kill-session -t ${quoteWord(target)}`];
}

/** The visible text of a pane. */
export function capturePane(pane: string): TmuxCommand {
  return ['capture-pane', '-p', '-t', paneTarget(pane)];
}

const FACTS_FORMAT = '#{pane_pid} #{pane_dead} #{pane_width} #{pane_height} #{history_size}';

/** Prints one line of `FACTS_FORMAT`, with empty fields for a pane that is not there. */
export function paneFacts(pane: string): TmuxCommand {
  return ['display-message', '-p', '-t', paneTarget(pane), FACTS_FORMAT];
}

/**
 * Prints a pane from its line `start`, which is negative in the history, with its attributes. Nothing if its size is not
 * that of the mark, or if nothing was written to it since: tmux tells whole seconds, so what came in the second of the
 * last read counts as new.
 */
export function captureSince(id: string, mark: ScreenMark, start: number): TmuxCommand {
  const { columns, rows, history, read_at_s } = mark;
  const pane = paneTarget(id);
  const is_new = `#{||:#{e|>=:#{window_activity},${whole(read_at_s)}},#{!=:#{history_size},${whole(history)}}}`;
  const same_size = `#{==:#{pane_width}x#{pane_height},${whole(columns)}x${whole(rows)}}`;
  return [
    'if-shell',
    '-F',
    '-t',
    pane,
    `#{&&:${same_size},${is_new}}`,
    `capture-pane -p -e -N -t '${pane}' -S ${whole(start)}`,
  ];
}

function whole(number: number): string {
  if (!Number.isSafeInteger(number)) throw refused(`${number} is no whole number`);
  return String(number);
}

/** What the commands to one pane print when it has another process, is dead or takes no input. */
export const NO_SUCH_PANE = 'no-such-pane';

/** Prints the visible pane with its attributes; `NO_SUCH_PANE` if the guard does not hold. */
export function captureGuarded(target: PaneAddress): TmuxCommand {
  const pane = paneTarget(target.id);
  return ifPane(target, `capture-pane -p -e -t '${pane}'`, `display-message -p ${NO_SUCH_PANE}`);
}

export function loadBuffer(name: string): TmuxCommand {
  return ['load-buffer', '-b', bufferName(name), '-'];
}

export function deleteBuffer(name: string): TmuxCommand {
  return ['delete-buffer', '-b', bufferName(name)];
}

/** What `pasteGuarded` prints when the buffer and Enter were given to the pane. */
export const PASTED = 'pasted';

/**
 * Pastes a buffer as a bracketed paste and a carriage return into a pane, and deletes the buffer; the server checks and
 * acts in one step. A dead pane would crash tmux 3.3. A pane in copy mode takes keys itself but passes pastes on to its
 * program. tmux then does not know that the program takes bracketed pastes, so the brackets are written as separators,
 * which no version of tmux escapes.
 */
export function pasteGuarded(target: PaneAddress, buffer: string): TmuxCommand {
  const pane = paneTarget(target.id);
  const text = bufferName(buffer);
  const set = (name: string, content: string) => `set-buffer -b '${name}' "${content}"`;
  const paste = (name: string, options: string) => `paste-buffer -d -b '${name}' ${options} -t '${pane}'`;
  const write = (separator: string) =>
    `${set(`${text}-bracket`, '\\n')} ; ${paste(`${text}-bracket`, `-s "${separator}"`)}`;
  const bracketed = `${write('\\033[200~')} ; ${paste(text, '-r')} ; ${write('\\033[201~')}`;
  return ifPane(
    target,
    [
      `if-shell -F -t '${pane}' '#{pane_in_mode}' { ${bracketed} } { ${paste(text, '-p -r')} }`,
      pasteEnter(target, text),
      `display-message -p ${PASTED}`,
    ].join(' ; '),
    `delete-buffer -b '${text}' ; display-message -p ${NO_SUCH_PANE}`,
  );
}

/** Presses Enter in a pane, in copy mode too; the server checks and acts in one step. Prints as `pasteGuarded` does. */
export function enterGuarded(target: PaneAddress, buffer: string): TmuxCommand {
  return ifPane(
    target,
    `${pasteEnter(target, bufferName(buffer))} ; display-message -p ${PASTED}`,
    `display-message -p ${NO_SUCH_PANE}`,
  );
}

/** As a paste of a carriage return: a pane in copy mode takes keys itself. */
function pasteEnter({ id }: PaneAddress, buffer: string): string {
  return `set-buffer -b '${buffer}' "\\r" ; paste-buffer -d -b '${buffer}' -r -t '${paneTarget(id)}'`;
}

/** tmux 3.7 and later tell whether the program takes bracketed pastes; before, the format is empty. */
function ifPane({ id, pid }: PaneAddress, then: string, otherwise: string): TmuxCommand {
  const conditions = [
    `#{==:#{pane_pid},${whole(pid)}}`,
    '#{!=:#{pane_dead},1}',
    '#{!=:#{pane_input_off},1}',
    '#{!=:#{bracket_paste_flag},0}',
  ];
  const all = conditions.reduce((before, condition) => `#{&&:${before},${condition}}`);
  return ['if-shell', '-F', '-t', paneTarget(id), all, then, otherwise];
}

function paneTarget(pane: string): string {
  if (!/^%\d{1,18}$/.test(pane)) throw refused(`${JSON.stringify(pane)} is not a tmux pane id`);
  return pane;
}

function bufferName(name: string): string {
  if (!/^[A-Za-z0-9-]+$/.test(name))
    throw refused('the name of a buffer holds letters, digits and dashes only');
  return name;
}

/** Prints one line for each pane of a session: its id, its pid, whether it is dead, its working directory. */
export function sessionPanes(id: string): TmuxCommand {
  return [
    'list-panes',
    '-s',
    '-t',
    idTarget(id),
    '-F',
    '#{pane_id} #{pane_pid} #{?pane_dead,1,0} #{pane_current_path}',
  ];
}

/** Prints one line for each client that is attached to a session: its pid and its flags. */
export function listClients(): TmuxCommand {
  return ['list-clients', '-F', '#{client_pid} #{client_flags}'];
}

/** Prints `text` (letters, digits and dashes) to mark the end of a reply. */
export function printMark(text: string): TmuxCommand {
  if (!/^[A-Za-z0-9-]+$/.test(text)) throw refused('a mark holds letters, digits and dashes only');
  return ['display-message', '-p', text];
}

/** Keeps an empty server running [MUX-3]. */
export function keepEmptyServer(): TmuxCommand {
  return ['set-option', '-s', 'exit-empty', 'off'];
}

function quoteWord(word: string): string {
  refuseControlCharacters(word);
  return `'${word.replaceAll("'", "'\\''")}'`;
}

function refuseControlCharacters(word: string): void {
  if (/[\u0000-\u001f\u007f]/.test(word)) {
    throw refused('a tmux argument may not hold a newline or another control character');
  }
  if (!word.isWellFormed()) throw refused('a tmux argument must be well-formed Unicode');
}

function refused(what: string): CodedError {
  return new CodedError('invalid_request', `tmux was not called: ${what}.`);
}
