/** Name of the file below Pi's `extensions` folder. */
export const PI_EXTENSION = 'fiber-dispatch.ts';

/** Text of the extension by which Pi tells its events; `argv` runs `svc hook event --harness pi`. */
export function piExtension(argv: readonly string[]): string {
  return `// Tells Fiber Dispatch what happens in this session. Written by \`svc setup pi\`; remove it with
// \`svc setup pi --uninstall\`.
import { spawn } from 'node:child_process';

const [program, ...words] = ${JSON.stringify(argv)};

function tell(ctx, hook_event_name, more = {}) {
  try {
    const sessions = ctx.sessionManager;
    const child = spawn(program, words, { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
    child.on('error', () => {});
    child.stdin.on('error', () => {});
    child.stdin.end(
      JSON.stringify({
        session_id: sessions.getSessionId(),
        transcript_path: sessions.getSessionFile?.() ?? null,
        cwd: ctx.cwd ?? process.cwd(),
        hook_event_name,
        ...more,
      }),
    );
    child.unref();
  } catch {
    // The session goes on whatever becomes of its events.
  }
}

export default function (pi) {
  const on = (event, run) => pi.on(event, (what, ctx) => void run(what ?? {}, ctx));
  on('session_start', (what, ctx) =>
    tell(ctx, 'SessionStart', { source: what.reason === 'new' ? 'clear' : (what.reason ?? 'startup') }),
  );
  on('input', (what, ctx) => tell(ctx, 'UserPromptSubmit', { prompt: String(what.text ?? '').slice(0, 40), prompt_source: what.source }));
  on('tool_call', (what, ctx) => tell(ctx, 'PreToolUse', { tool_name: what.toolName, tool_input: what.input }));
  on('tool_result', (what, ctx) => tell(ctx, 'PostToolUse', { tool_name: what.toolName, tool_input: what.input }));
  on('agent_end', (_what, ctx) => tell(ctx, 'Stop'));
  on('session_shutdown', (_what, ctx) => tell(ctx, 'SessionEnd'));
}
`;
}
