import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Clock, FakeClock, systemClock } from '../../src/base/clock.ts';
import type { PaneAddress } from '../../src/mux/mux.ts';
import { createPaneInput } from '../../src/mux/pane-input.ts';
import { createRunner, type ProcessRunner } from '../../src/platform/process.ts';
import { createProcessFacts } from '../../src/platform/process-facts.ts';
import { createPrivateServer, type PrivateServer, until } from '../fixtures/mux/private-server.ts';
import { findProgram } from '../kit/find-program.ts';

let server: PrivateServer;
beforeEach(() => {
  server = createPrivateServer();
});
afterEach(() => server.dispose());

const runner = createRunner();
const TYPED = (text: string) => `\u001b[200~${text}\u001b[201~\r`;

function open(options: { runner?: ProcessRunner; clock?: Clock; deadline_ms?: number } = {}) {
  return createPaneInput({
    tmux: findProgram('tmux', process.env.PATH ?? '')!,
    socket: server.socket,
    env: process.env,
    runner,
    clock: systemClock,
    facts: createProcessFacts({ platform: process.platform, runner }),
    platform: process.platform,
    deadline_ms: 5_000,
    ...options,
  });
}

/** A session whose program takes bracketed pastes, as agent programs do, and writes down each byte it is given. */
async function reader(name = 'work', before = ''): Promise<{ target: PaneAddress; got(): string }> {
  const file = join(server.dir, name);
  writeFileSync(file, '');
  const script = `${before}stty raw -echo; printf '\\033[?2004hready'; exec cat >>'${file}'`;
  const told = await server.tmux(
    ...['new-session', '-d', '-x', '80', '-y', '24', '-s', name, '-P', '-F', '#{pane_id} #{pane_pid}'],
    ...['--', 'sh', '-c', script],
  );
  const [id = '', pid] = told.split(' ');
  const target = { id, pid: Number(pid) };
  await until('the reader', async () => (await open().screen(target))?.includes('ready'));
  return { target, got: () => readFileSync(file, 'utf8') };
}

const buffers = () => server.tmux('list-buffers');

describe('typing into a pane', () => {
  it.each([
    ['one line', 'hello'],
    ['lines, tabs and blank lines', '[message a1 from b]\n\tone\n\n  two\n'],
    ['other scripts', 'grüße 漢字 👩‍💻 e\u0301'],
    [
      'what tmux and a shell would expand',
      '#{pid} #(touch x) $(touch x) `id` "; kill-server ; \' \\n \\033 %1',
    ],
    ['50 kB in one line', 'x'.repeat(50_000)],
    ['50 kB in many lines', 'a line of the text\n'.repeat(2_700)],
  ])('gives the program %s, byte by byte, as one paste and Enter', async (_, text) => {
    const { target, got } = await reader();
    expect(await open().paste(target, text)).toEqual({ kind: 'pasted' });
    await until('the text', () => got().endsWith('\r'));
    expect(got()).toBe(TYPED(text));
    expect(await buffers()).toBe('');
  });

  it('keeps the texts of two callers apart', async () => {
    const { target, got } = await reader();
    const texts = ['a\n'.repeat(9_000), 'b\n'.repeat(9_000)];
    expect(await Promise.all(texts.map((text) => open().paste(target, text)))).toEqual([
      { kind: 'pasted' },
      { kind: 'pasted' },
    ]);
    const size = TYPED(texts[0]!).length * 2;
    await until('both texts', () => got().length === size);
    expect([TYPED(texts[0]!) + TYPED(texts[1]!), TYPED(texts[1]!) + TYPED(texts[0]!)]).toContain(got());
  });

  it('leaves a person who scrolls where they are, and gives the program the text', async () => {
    const { target, got } = await reader('work', 'seq 1 200; ');
    await server.tmux('copy-mode', '-t', target.id);
    await server.tmux('send-keys', '-t', target.id, '-X', '-N', '30', 'scroll-up');
    const place = () =>
      server.tmux('display-message', '-p', '-t', 'work:', '#{pane_mode} #{scroll_position}');
    expect(await place()).toBe('copy-mode 30');
    const input = open();
    expect(await input.screen(target)).toContain('ready');
    const text = 'hello\n'.repeat(9_000);
    expect(await input.paste(target, text)).toEqual({ kind: 'pasted' });
    await until('the text', () => got().endsWith('\r'));
    expect(got()).toBe(TYPED(text));
    expect(await place()).toBe('copy-mode 30');
    expect(await buffers()).toBe('');
  });

  it('types into the first pane of a session where a person works in another one', async () => {
    const { target, got } = await reader();
    const other = join(server.dir, 'other');
    writeFileSync(other, '');
    await server.tmux('split-window', '-b', '-t', 'work:', `cat >'${other}'`);
    await server.tmux('new-window', '-t', 'work:', `cat >'${other}'`);
    const input = open();
    expect(await input.screen(target)).toContain('ready');
    expect(await input.paste(target, 'hello')).toEqual({ kind: 'pasted' });
    await until('the text', () => got().endsWith('\r'));
    expect(got()).toBe(TYPED('hello'));
    expect(readFileSync(other, 'utf8')).toBe('');
  });

  it('gives nothing to the pane that is left when the one whose screen was read has ended', async () => {
    const { target } = await reader();
    const other = join(server.dir, 'other');
    writeFileSync(other, '');
    await server.tmux('split-window', '-t', 'work:', `cat >'${other}'`);
    const input = open();
    await input.screen(target);
    const [pane = ''] = (await server.tmux('list-panes', '-t', 'work:', '-F', '#{pane_id}')).split('\n');
    await server.tmux('kill-pane', '-t', pane);
    expect(await input.paste(target, 'hello')).toEqual({ kind: 'gone' });
    expect(readFileSync(other, 'utf8')).toBe('');
    expect(await buffers()).toBe('');
  });

  it('shows the screen of a pane only when its program had time to show the last paste', async () => {
    const { target } = await reader();
    const clock = new FakeClock();
    const input = open({ clock });
    expect(await input.screen(target)).toContain('ready');
    expect(await input.paste(target, 'hello')).toEqual({ kind: 'pasted' });
    const shown = { yet: false };
    const reading = input.screen(target).then((screen) => {
      shown.yet = true;
      return screen;
    });
    clock.advance(1_999);
    await open().screen(target);
    expect(shown.yet).toBe(false);
    clock.advance(1);
    expect(await reading).toContain('ready');
  });

  it('types one text after the other, with time between', async () => {
    const { target, got } = await reader();
    const clock = new FakeClock();
    const input = open({ clock });
    const first = input.paste(target, 'one');
    const second = input.paste(target, 'two');
    expect(await first).toEqual({ kind: 'pasted' });
    await until('the first text', () => got().endsWith('\r'));
    expect(got()).toBe(TYPED('one'));
    clock.advance(2_000);
    expect(await second).toEqual({ kind: 'pasted' });
    await until('the second text', () => got().endsWith(TYPED('two')));
    expect(got()).toBe(TYPED('one') + TYPED('two'));
    expect(await buffers()).toBe('');
  });

  it('shows and types at once after the clock was set back', async () => {
    const { target, got } = await reader();
    const clock = new FakeClock();
    const input = open({ clock });
    expect(await input.paste(target, 'one')).toEqual({ kind: 'pasted' });
    clock.advance(60_000);
    clock.jumpTo(clock.now() - 3 * 3_600_000);
    expect(await input.screen(target)).toContain('ready');
    expect(await input.paste(target, 'two')).toEqual({ kind: 'pasted' });
    await until('both texts', () => got() === TYPED('one') + TYPED('two'));
  });

  it('reads the attributes of the screen', async () => {
    const { target } = await reader('work', "printf '\\033[2mdim\\033[0m'; ");
    expect(await open().screen(target)).toContain('\u001b[2mdim');
  });
});

describe('a pane that is given nothing', () => {
  const nothing = async (target: PaneAddress) => {
    const input = open();
    expect(await input.screen(target)).toBeNull();
    expect(await input.paste(target, 'hello')).toEqual({ kind: 'gone' });
  };

  it('has ended with its server', () => nothing({ id: '%1', pid: 7 }));

  it('is not there, or has another process', async () => {
    const { target, got } = await reader();
    await nothing({ ...target, pid: target.pid + 1 });
    await nothing({ ...target, id: '%77' });
    expect(got()).toBe('');
    expect(await buffers()).toBe('');
  });

  it('is dead and was kept, and the server goes on', async () => {
    await reader('other');
    const { target } = await reader();
    await server.tmux('set-option', '-w', '-t', 'work:', 'remain-on-exit', 'on');
    const pid = Number(await server.tmux('display-message', '-p', '-t', 'work:', '#{pane_pid}'));
    const input = open();
    await input.screen(target);
    process.kill(pid, 'SIGKILL');
    await until(
      'the end',
      async () => (await server.tmux('display-message', '-p', '-t', 'work:', '#{pane_dead}')) === '1',
    );
    expect(await input.paste(target, 'hello')).toEqual({ kind: 'gone' });
    await nothing(target);
    expect(await server.tmux('list-sessions', '-F', '#{session_name}')).toBe('other\nwork');
    expect(await buffers()).toBe('');
  });

  it('takes no input', async () => {
    const { target, got } = await reader();
    await server.tmux('select-pane', '-d', '-t', 'work:');
    await nothing(target);
    expect(got()).toBe('');
  });

  it.each([
    ['the end of a paste', 'a\u001b[201~rm -rf x'],
    ['the end of a paste in one character', 'a\u009b201~x'],
    ['an interrupt', 'a\u0003'],
    ['a carriage return', 'a\r\nb'],
    ['half of a character', 'a\ud83d'],
    ['nothing but blanks', ' \n\t'],
  ])('would have been given %s', async (_, text) => {
    const { target, got } = await reader();
    await expect(open().paste(target, text)).rejects.toMatchObject({ code: 'invalid_request' });
    expect(got()).toBe('');
    expect(await buffers()).toBe('');
  });

  it('would have been given any other control character', async () => {
    const control = fc.integer({ min: 0, max: 0x9f }).filter((code) => {
      return (code < 0x20 || code >= 0x7f) && code !== 0x09 && code !== 0x0a;
    });
    const never: ProcessRunner = { ...runner, run: () => Promise.reject(new Error('tmux was called')) };
    await fc.assert(
      fc.asyncProperty(fc.string(), control, fc.string(), async (before, code, after) => {
        const text = `${before}${String.fromCharCode(code)}${after}`;
        await expect(open({ runner: never }).paste({ id: '%1', pid: 7 }, text)).rejects.toMatchObject({
          code: 'invalid_request',
        });
      }),
    );
  });
});

describe('pressing Enter', () => {
  it('is given to the program of the pane whose screen was read, in copy mode too', async () => {
    const { target, got } = await reader();
    const input = open();
    await input.screen(target);
    await server.tmux('copy-mode', '-t', target.id);
    expect(await input.pressEnter(target)).toBe(true);
    await until('Enter', async () => got() === '\r');
    expect(await buffers()).toBe('');
  });

  it('does nothing where another process has the pane', async () => {
    const { target, got } = await reader();
    expect(await open().pressEnter({ ...target, pid: target.pid + 1 })).toBe(false);
    expect(got()).toBe('');
  });
});

describe('an answer that got lost', () => {
  it('leaves unknown what the pane was given, and leaves no buffer', async () => {
    const { target, got } = await reader();
    const input = open({ deadline_ms: 500 });
    await input.screen(target);
    const pid = await server.serverPid();
    process.kill(pid, 'SIGSTOP');
    const pasted = await input.paste(target, 'hello').finally(() => process.kill(pid, 'SIGCONT'));
    expect(pasted).toEqual({ kind: 'unknown', detail: 'tmux did not answer in time' });
    expect(await buffers()).toBe('');
    expect(['', TYPED('hello')]).toContain(got());
  });

  it('leaves unknown what tmux refused to finish, and removes the buffer', async () => {
    const { target } = await reader();
    const breaks: ProcessRunner = {
      ...runner,
      run: (call) =>
        runner.run({
          ...call,
          args: call.args.map((word) => word.replace(' } ; set-buffer', ' } ; no-such-command ; set-buffer')),
        }),
    };
    expect(await open({ runner: breaks }).paste(target, 'hello')).toMatchObject({ kind: 'unknown' });
    expect(await buffers()).toBe('');
  });
});
