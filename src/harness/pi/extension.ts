import { join } from 'node:path';
import { ABSENT, CURRENT, type HookState, judgeProgram, OUTDATED, unlessOff } from '../hooks/hook-state.ts';
import { ownTable, readOwnText } from '../own-config.ts';
import { CONTEXT_PART } from './context-part.ts';
import { MESSAGE_SOCKET_PART } from './message-socket.ts';

/** Name of the file below Pi's `extensions` folder. */
export const PI_EXTENSION = 'fiber-dispatch.ts';

/** Text of the extension that reports Pi's events; `argv` is that of a hook, with the Node that it may start. */
export function piExtension(argv: readonly string[]): string {
  return `// Tells Fiber Dispatch what happens in this session. Written by \`svc setup pi\`; remove it with
// \`svc setup pi --uninstall\`.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';

const [shell, script, harness, node] = ${JSON.stringify(argv)};

// Each event is sent by a process of its own, and these may end out of order, so each event carries its time.
let told_at = 0;

function inputOf(ctx, hook_event_name, more = {}) {
  told_at = Math.max(Date.now(), told_at + 1);
  const sessions = ctx.sessionManager;
  return JSON.stringify({
    session_id: sessions.getSessionId(),
    transcript_path: sessions.getSessionFile?.() ?? null,
    cwd: ctx.cwd ?? process.cwd(),
    hook_event_name,
    told_at,
    ...more,
  });
}

function tell(ctx, hook_event_name, more) {
  try {
    const child = spawn(shell, [script, harness], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
    child.on('error', () => {});
    child.stdin.on('error', () => {});
    child.stdin.end(inputOf(ctx, hook_event_name, more));
    child.unref();
  } catch {
    // The session goes on whatever becomes of its events.
  }
}

function textOf(content) {
  if (!Array.isArray(content)) return '';
  return content.map((part) => (part?.type === 'text' ? part.text : '')).join('').slice(0, 2000);
}
${MESSAGE_SOCKET_PART}${CONTEXT_PART}export default function (pi) {
  const on = (event, run) => pi.on(event, (what, ctx) => void run(what ?? {}, ctx));
  on('session_start', (what, ctx) =>
    tell(ctx, 'SessionStart', { source: what.reason === 'new' ? 'clear' : (what.reason ?? 'startup') }),
  );
  on('input', (what, ctx) => tell(ctx, 'UserPromptSubmit', {
    prompt: String(what.text ?? '').slice(0, 120),
    // Who wrote a message stands in its text.
    prompt_source: given.has(what.text) ? undefined : what.source,
  }));
  on('tool_call', (what, ctx) => tell(ctx, 'PreToolUse', { tool_name: what.toolName, tool_input: what.input }));
  on('tool_result', (what, ctx) => tell(ctx, 'PostToolUse', { tool_name: what.toolName, tool_input: what.input }));
  // Between two turns it is the person who asked for the dialog.
  const inTurn = (run) => (what, ctx) => ctx.isIdle() || run(what, ctx);
  on('ui_prompt_start', inTurn((what, ctx) =>
    tell(ctx, 'Notification', { notification_type: 'permission_prompt', message: what.title }),
  ));
  on('ui_prompt_end', inTurn((_what, ctx) => tell(ctx, 'PromptAnswered')));
  // Pi may retry, which only its settling shows: until then a turn with an error has not failed.
  let failure = null;
  const settle = (ctx) => {
    if (failure !== null) tell(ctx, 'StopFailure', { last_assistant_message: failure });
    failure = null;
  };
  on('agent_start', () => {
    failure = null;
  });
  on('agent_end', (what, ctx) => {
    const last = (what.messages ?? []).findLast?.((message) => message?.role === 'assistant');
    const said = textOf(last?.content);
    if (last?.stopReason === 'error') failure = String(last.errorMessage ?? 'the model did not answer');
    else tell(ctx, 'Stop', said === '' ? {} : { last_assistant_message: said });
  });
  on('agent_settled', (_what, ctx) => settle(ctx));
  on('session_shutdown', (_what, ctx) => {
    settle(ctx);
    tell(ctx, 'SessionEnd');
  });
  takeMessages(pi);
  addContext(pi);
}
`;
}

/** Compares the extension in Pi's folder with the one that this installation writes. */
export async function compareExtension(folder: string, env: NodeJS.ProcessEnv): Promise<HookState> {
  const text = await readOwnText(join(folder, 'extensions', PI_EXTENSION));
  if (text === null) return ABSENT;
  const argv = wordsIn(/^const \[shell, script, harness, node\] = (\[.*\]);$/m.exec(text)?.[1] ?? '');
  if (argv === null) return OUTDATED;
  const [, script = '', , node = ''] = argv;
  const found = await judgeProgram([node, script], env);
  if (found.state !== 'current') return found;
  return unlessOff(text === piExtension(argv) ? CURRENT : OUTDATED, await switchedOffBy(folder));
}

/** The entry of its settings that leaves our extension out; patterns other than its own path are not looked at. */
async function switchedOffBy(folder: string): Promise<string | null> {
  const file = join(folder, 'settings.json');
  const { extensions } = await ownTable(file);
  const own = [PI_EXTENSION, `extensions/${PI_EXTENSION}`, join(folder, 'extensions', PI_EXTENSION)];
  const off = (Array.isArray(extensions) ? extensions : []).find(
    (entry) => typeof entry === 'string' && /^[-!]/.test(entry) && own.includes(entry.slice(1)),
  );
  return off === undefined ? null : `"${off}" under "extensions" in ${file}`;
}

function wordsIn(json: string): string[] | null {
  try {
    const words: unknown = JSON.parse(json);
    return Array.isArray(words) && words.every((word) => typeof word === 'string') ? words : null;
  } catch {
    return null;
  }
}
