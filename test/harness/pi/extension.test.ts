import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { piExtension } from '../../../src/harness/pi/extension.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-pi-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

type Handler = (what: object, ctx: object) => unknown;
type Told = { hook_event_name: string; last_assistant_message?: string; message?: string; told_at: number };

/** The extension as Pi loads it, telling a program that keeps what it is told. */
async function loaded({ idle = false } = {}) {
  const kept = join(dir, 'told');
  const keep = join(dir, 'keep.sh');
  writeFileSync(keep, `event=$(cat); printf '%s\\n' "$event" >> "$1"`);
  writeFileSync(join(dir, 'extension.mjs'), piExtension(['/bin/sh', keep, kept, '/node']));
  const extension = await import(pathToFileURL(join(dir, 'extension.mjs')).href);
  const handlers = new Map<string, Handler[]>();
  extension.default({
    on: (event: string, run: Handler) => handlers.set(event, [...(handlers.get(event) ?? []), run]),
  });
  const ctx = { cwd: '/srv', isIdle: () => idle, sessionManager: { getSessionId: () => 's-1' } };
  return {
    fire(event: string, what: object = {}) {
      for (const run of handlers.get(event) ?? []) run(what, ctx);
    },
    told(): Told[] {
      const lines = existsSync(kept) ? readFileSync(kept, 'utf8').split('\n').filter(Boolean) : [];
      return lines.map((line) => JSON.parse(line) as Told).sort((a, b) => a.told_at - b.told_at);
    },
  };
}

const wrong = (errorMessage: string) => ({
  messages: [{ role: 'assistant', stopReason: 'error', errorMessage, content: [] }],
});
const right = { messages: [{ role: 'assistant', content: [{ type: 'text', text: 'Done.' }] }] };

it('[P16] reports a failed turn once if Pi does not retry, and not at all if a retry succeeded', async () => {
  const pi = await loaded();
  pi.fire('agent_start');
  pi.fire('agent_end', wrong('overloaded, first try'));
  pi.fire('agent_start');
  pi.fire('agent_end', right);
  pi.fire('agent_settled');
  pi.fire('agent_start');
  pi.fire('agent_end', wrong('overloaded, first try'));
  pi.fire('agent_start');
  pi.fire('agent_end', wrong('overloaded, last try'));
  pi.fire('agent_settled');
  pi.fire('session_shutdown');
  await expect.poll(() => pi.told().length, { timeout: 30_000 }).toBe(3);
  expect(
    pi.told().map(({ hook_event_name, last_assistant_message }) => [hook_event_name, last_assistant_message]),
  ).toEqual([
    ['Stop', 'Done.'],
    ['StopFailure', 'overloaded, last try'],
    ['SessionEnd', undefined],
  ]);
});

it('[P16] reports a question to the person, and that it was answered', async () => {
  const pi = await loaded();
  pi.fire('ui_prompt_start', { kind: 'select', title: 'Which way?' });
  pi.fire('ui_prompt_end', { kind: 'select', title: 'Which way?' });
  await expect.poll(() => pi.told().length, { timeout: 30_000 }).toBe(2);
  expect(pi.told()).toMatchObject([
    { hook_event_name: 'Notification', notification_type: 'permission_prompt', message: 'Which way?' },
    { hook_event_name: 'PromptAnswered' },
  ]);
});

it('[P16] does not report a dialog that a person opened between two turns', async () => {
  const pi = await loaded({ idle: true });
  pi.fire('ui_prompt_start', { kind: 'select', title: 'Which way?' });
  pi.fire('ui_prompt_end', { kind: 'select', title: 'Which way?' });
  pi.fire('session_shutdown');
  await expect.poll(() => pi.told().length, { timeout: 30_000 }).toBe(1);
  expect(pi.told()).toMatchObject([{ hook_event_name: 'SessionEnd' }]);
});

describe('before an agent starts', () => {
  const before = process.env.SVC_DATA_DIR;
  beforeEach(() => {
    process.env.SVC_DATA_DIR = dir;
  });
  afterEach(() => {
    if (before === undefined) delete process.env.SVC_DATA_DIR;
    else process.env.SVC_DATA_DIR = before;
  });

  /** The extension with a hook that prints this. */
  const start = async (printed: string) => {
    const hook = join(dir, 'hook.sh');
    const kept = join(dir, 'asked');
    writeFileSync(hook, `printf '%s\\n' "$2" >> "$1"; printf %s '${printed}'`);
    writeFileSync(join(dir, 'context.mjs'), piExtension(['/bin/sh', hook, kept, '/node']));
    const extension = await import(pathToFileURL(join(dir, 'context.mjs')).href);
    const handlers = new Map<string, Handler>();
    extension.default({ on: (event: string, run: Handler) => handlers.set(event, run) });
    const ctx = { cwd: '/srv', sessionManager: { getSessionId: () => 's-1' } };
    const answer = await handlers.get('before_agent_start')?.({}, ctx);
    return { answer, asked: existsSync(kept) ? readFileSync(kept, 'utf8') : null };
  };
  const printed = JSON.stringify({ hookSpecificOutput: { additionalContext: 'The tests are slow.' } });

  it('[MSG-2] adds what waits for the session', async () => {
    mkdirSync(join(dir, 'messages', 'context', 'pi-s-1'), { recursive: true });
    expect(await start(printed)).toEqual({
      answer: { message: { customType: 'fiber-dispatch', content: 'The tests are slow.', display: true } },
      asked: '/node\n',
    });
  });

  it('runs no hook where nothing waits', async () => {
    mkdirSync(join(dir, 'messages', 'context', 'pi-s-2'), { recursive: true });
    expect(await start(printed)).toEqual({ answer: undefined, asked: null });
  });

  it.each(['', 'not JSON', '{}'])('goes on without context where the hook prints %j', async (text) => {
    mkdirSync(join(dir, 'messages', 'context', 'pi-s-1'), { recursive: true });
    expect(await start(text)).toMatchObject({ answer: undefined });
  });
});
