import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  commandArgv,
  controlLine,
  idTarget,
  killGuarded,
  literalFormat,
  MAX_ARGV_BYTES,
  nameTarget,
  newSession,
  paneOf,
  printMark,
} from '../../src/mux/command.ts';
import { isEscaped, workerSessionName } from '../../src/mux/session-name.ts';
import type { createTmux } from '../../src/mux/tmux.ts';
import { createPrivateServer, type PrivateServer, until } from '../fixtures/mux/private-server.ts';

const UID = '01K2Z3V4W5X6Y7Z8A9B0C1D2E3';
const HOSTILE = [
  '#(touch pwn)',
  '#{pid}',
  '##(touch pwn)',
  '#[fg=red]',
  '##[x]#(touch pwn)',
  '#[#(touch pwn)]',
  '###[#{pid}',
  '$(touch pwn)',
  '`touch pwn`',
  ';',
  'a;',
  'a\\;',
  '\\',
  "'",
  '"',
  "'; kill-session; '",
  '-dash',
  'two words',
  ' ',
  '%H:%M',
  '%1',
  '@1',
  '=x',
  '*',
  '{a}',
  '~',
  '$HOME',
  'a.b:c',
  'é💥漢',
  '#',
  '##',
  '|| run-shell "touch pwn"',
];

/** Names a directory may have, rich in what tmux reads specially; no control characters. */
const hostile = fc
  .oneof(
    fc.constantFrom(...HOSTILE),
    fc.array(fc.constantFrom(...HOSTILE), { minLength: 1, maxLength: 3 }).map((parts) => parts.join('')),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
  )
  .map((text) => text.replaceAll('/', '_'))
  .filter((text) => !/[\u0000-\u001f\u007f]/.test(text) && text.isWellFormed() && !/^\.{1,2}$/.test(text));

describe('hostile names and directories against a real server', () => {
  let server: PrivateServer;
  let mux: ReturnType<typeof createTmux>;
  beforeAll(async () => {
    server = createPrivateServer();
    mux = server.open();
    await mux.create({ name: 'holder', cwd: server.dir, command: ['sleep', '600'] });
    expect(mux.control.attached).toBe(true);
  });
  afterAll(() => server.dispose());

  async function tryOne(text: string, send: (name: string, cwd: string) => Promise<string>): Promise<void> {
    const cwd = join(server.dir, text);
    mkdirSync(cwd, { recursive: true });
    const name = workerSessionName(text, UID);
    const id = await send(name, cwd);
    // The C library of this machine does not know the character.
    if (/rename the fiber’s folder|no such session/.test(id)) return;
    expect(id).toMatch(/^\$\d+$/);
    const told = await server.tmux(
      'display-message',
      '-p',
      '-t',
      `${id}:`,
      '#{session_name}\n#{session_path}',
    );
    expect(told).toBe(`${name}\n${cwd}`);
    const started = await server.tmux('display-message', '-p', '-t', `${id}:`, '#{pane_start_command}');
    expect(started).toContain('600');
    await server.tmux('has-session', '-t', nameTarget(name));
    expect(await mux.kill({ id, name })).toBe('killed');
    const all = readdirSync(server.dir, { recursive: true, encoding: 'utf8' });
    expect(all.filter((file) => file.endsWith('pwn'))).toEqual([]);
  }

  const viaControl = async (name: string, cwd: string) => {
    const made = await mux.create({ name, cwd, command: ['sleep', '600'] });
    return made.kind === 'created' ? made.session.id : JSON.stringify(made);
  };
  const viaArgv = async (name: string, cwd: string) => {
    const argv = commandArgv(...newSession({ name, cwd, command: ['sleep', '600'], columns: 80, rows: 24 }));
    const told = await server.tmux(...argv).catch((error: Error) => error.message);
    const id = told.split(' ')[0] ?? '';
    const written = await server.tmux('display-message', '-p', '-t', `${id}:`, '#{session_name}');
    if (!isEscaped(written, name)) return id;
    await server.tmux('kill-session', '-t', id);
    return 'no such session';
  };

  it.each(HOSTILE)('[DSP-9] keeps %j unchanged and executes nothing', async (text) => {
    await tryOne(text, viaControl);
    await tryOne(text, viaArgv);
  });

  it('[DSP-9] keeps any name unchanged, through a control client', async () => {
    await fc.assert(
      fc.asyncProperty(hostile, (text) => tryOne(text, viaControl)),
      { numRuns: 60 },
    );
  });

  it('[DSP-9] keeps any name unchanged, through argv', async () => {
    await fc.assert(
      fc.asyncProperty(hostile, (text) => tryOne(text, viaArgv)),
      { numRuns: 40 },
    );
  });

  it('passes the arguments of a session’s command unchanged', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(hostile, { minLength: 1, maxLength: 3 }), async (words) => {
        const script = 'printf "%s\\n" "$@" >"$0"; exec sleep 600';
        const file = join(server.dir, 'words');
        const name = workerSessionName('words', UID);
        const made = await mux.create({
          name,
          cwd: server.dir,
          command: ['/bin/sh', '-c', script, file, ...words],
        });
        if (made.kind !== 'created') throw new Error(JSON.stringify(made));
        const expected = words.map((word) => `${word}\n`).join('');
        await until(
          'the words',
          () => existsSync(file) && statSync(file).size >= Buffer.byteLength(expected),
        );
        expect(readFileSync(file, 'utf8')).toBe(expected);
        rmSync(file);
        await mux.kill(made.session);
      }),
      { numRuns: 15 },
    );
  });

  it('refuses a directory with a newline before it calls tmux', async () => {
    const made = await mux.create({
      name: 'x',
      cwd: `${server.dir}/a\nkill-session`,
      command: ['sleep', '600'],
    });
    expect(made).toMatchObject({ kind: 'failed', detail: expect.stringContaining('control character') });
  });
});

describe('the command builder', () => {
  it('doubles every # of a name or directory, except before [', () => {
    expect(literalFormat('##[a]#[#(b)')).toBe('##[a]#[##(b)');
    expect(literalFormat('#(a)##')).toBe('##(a)####');
  });

  it('escapes a ; that ends a word of argv and quotes every word of a line', () => {
    expect(commandArgv(['a', 'b;'], ['c', ';'])).toEqual(['a', 'b\\;', ';', 'c', '\\;']);
    expect(controlLine(['a', "b'c;"], ['d', ';'])).toBe("'a' 'b'\\''c;' ; 'd' ';'");
  });

  it.each(['\n', '\r', '\t', '\0', '\u001b', '\u007f', '\ud800'])(
    'refuses %j in a line and in argv',
    (text) => {
      expect(() => controlLine(['display-message', `a${text}b`])).toThrow(/tmux was not called/);
      expect(() => commandArgv(['display-message', `a${text}b`])).toThrow(/tmux was not called/);
    },
  );

  it('refuses argv above the limit of a tmux client', () => {
    expect(() => commandArgv(['display-message', 'x'.repeat(MAX_ARGV_BYTES)])).toThrow(
      /more than a tmux client/,
    );
    expect(commandArgv(['display-message', 'x'.repeat(MAX_ARGV_BYTES - 100)])).toHaveLength(2);
  });

  it('targets sessions by id or exact name only', () => {
    expect(idTarget('$7')).toBe('$7');
    expect(nameTarget('svc-anchor')).toBe('=svc-anchor');
    expect(paneOf('=x')).toBe('=x:');
    for (const id of ['7', '$', '$7:', 'work', '$7;', '', '=x']) expect(() => idTarget(id)).toThrow();
    for (const name of ['', 'a:b', 'a.b', '$1', 'a\\b', 'a\u0007b', 'x'.repeat(241)]) {
      expect(() => nameTarget(name)).toThrow();
      expect(() => killGuarded({ id: '$7', name })).toThrow();
    }
    expect(killGuarded({ id: '$7', name: 'a,b}#c' })[4]).toBe('#{==:#{session_name},a#,b#}##c}');
    expect(() => printMark('#{pid}')).toThrow();
  });

  it('refuses a one-word command, which tmux would give to a shell', () => {
    const spec = { name: 'x', cwd: '/', columns: 1, rows: 1 };
    expect(() => newSession({ ...spec, command: ['sleep 600'] })).toThrow(/at least two/);
  });
});
