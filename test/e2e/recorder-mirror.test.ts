import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { babble, joinedAudio, silence } from '../kit/made-audio.ts';
import { processesMarked, signal } from '../kit/processes.ts';
import { TestRecording } from '../kit/recording.ts';
import { SshServer } from '../kit/ssh-server.ts';
import { TestHome } from '../kit/test-home.ts';
import { until } from '../kit/until.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

let home: TestHome;
let server: SshServer;
let recording: TestRecording | null = null;
let tests = 0;
beforeAll(async () => {
  home = new TestHome({ SVC_RECORDER_ENGINE: 'vad', SVC_RECORDER_AUDIO: 'off' });
  server = new SshServer(home);
  await server.start();
  home.write('config/remotes.json', {
    version: 1,
    remotes: [{ name: 'host-b', ssh: server.alias, ssh_flags: server.flags, port: 4001 }],
  });
});
afterEach(() => recording?.dispose());
afterAll(async () => {
  await server.stop();
  await home.dispose();
});

function mirrored(far = home.path('far', String(tests), 'a meeting.txt')): {
  one: TestRecording;
  far: string;
} {
  tests += 1;
  const folder = home.path('meetings', String(tests));
  mkdirSync(folder, { recursive: true });
  const one = new TestRecording(
    { argv: [process.execPath, home.launcher, 'recorder'], env: home.env },
    folder,
  );
  one.start({ more: ['--mirror', server.alias, '--mirror-path', far] });
  recording = one;
  return { one, far };
}

/** Ends the connections at once, and the server with them, so that no new one is made. */
async function cut(): Promise<void> {
  const stopped = server.stop();
  for (const row of processesMarked(home.root))
    if (/(?:^|\/)ssh -T /.test(row.command)) signal(row, 'SIGKILL');
  await stopped;
}

const textAt = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8') : '');
const word = joinedAudio(babble(0.5), silence(1));

it('[CAP-4] copies the transcript to the other host as it grows, to its end', async () => {
  const { one, far } = mirrored();
  const sender = await one.sender();
  await until('the first line there', () => textAt(far).startsWith('# vad'));
  await sender.send(word);
  await until('what was said', () => / S1 \[speech/.test(textAt(far)));
  writeFileSync(one.transcript_path, '# mark 10:00:00 of the daemon\n', { flag: 'a' });
  await until('the mark', () => textAt(far).includes('# mark 10:00:00 of the daemon\n'));
  one.signal('SIGINT');
  expect(await one.exited()).toBe(0);
  expect(textAt(far)).toBe(textAt(one.transcript_path));
  expect(textAt(far)).toMatch(/\n# ended \d\d:\d\d:\d\d\n$/);
  expect(one.state()).toMatchObject({ phase: 'ended', fault: null });
});

it('[CAP-4] goes on after each cut of the connection, and loses and doubles nothing', async () => {
  const { one, far } = mirrored();
  const sender = await one.sender();
  for (let round = 0; round < 4; round += 1) {
    for (let nth = 0; nth < 200; nth += 1)
      writeFileSync(one.transcript_path, `# mark 10:00:00 ${round} ${nth} ${'x'.repeat(400)}\n`, {
        flag: 'a',
      });
    // In the middle of an order in one round, and after all of them in the next.
    const is_late = round % 2 === 1;
    const there = textAt(far).length;
    await until('the copy growing', () =>
      is_late ? textAt(far) === textAt(one.transcript_path) : textAt(far).length > there,
    );
    await cut();
    await sender.send(word);
    await until('the fault', () => one.state()?.fault?.includes(`not copied to ${server.alias}`));
    expect(one.state()?.phase).toBe('live');
    await server.restart();
    await until('the copy', () => textAt(far) === textAt(one.transcript_path));
    await until('no fault', () => one.state()?.fault === null);
  }
  one.signal('SIGTERM');
  expect(await one.exited()).toBe(0);
  expect(textAt(far)).toBe(textAt(one.transcript_path));
  expect(one.spoken()).toHaveLength(4);
});

it('[CAP-4] copies the whole transcript once more where the copy was removed', async () => {
  const { one, far } = mirrored();
  await until('the first line there', () => textAt(far).startsWith('# vad'));
  for (const remove of [() => rmSync(far), () => rmSync(dirname(far), { recursive: true })]) {
    remove();
    writeFileSync(one.transcript_path, '# mark 10:00:00 later\n', { flag: 'a' });
    await until('the copy', () => textAt(far) === textAt(one.transcript_path));
  }
  one.signal('SIGINT');
  expect(await one.exited()).toBe(0);
  expect(textAt(far)).toBe(textAt(one.transcript_path));
});

it('[CAP-4] leaves a copy that somebody changed as it is, says so, and begins anew once it is moved away', async () => {
  const { one, far } = mirrored();
  await until('the first line there', () => textAt(far).startsWith('# vad'));
  writeFileSync(far, 'a note\n', { flag: 'a' });
  const changed = textAt(far);
  writeFileSync(one.transcript_path, '# mark 10:00:00 later\n', { flag: 'a' });
  await until('the fault', () => one.state()?.fault?.includes(`move ${far} there away`));
  expect(textAt(far)).toBe(changed);
  renameSync(far, `${far}.mine`);
  await until('the copy', () => textAt(far) === textAt(one.transcript_path), 60_000);
  await until('no fault', () => one.state()?.fault === null);
  writeFileSync(far, 'a note\n', { flag: 'a' });
  one.signal('SIGINT');
  expect(await one.exited()).toBe(0);
  expect(textAt(far)).toMatch(/later\na note\n$/);
  expect(textAt(`${far}.mine`)).toBe(changed);
  expect(one.state()?.fault).toMatch(/is not whole .*; move that file away, and copy it with: scp /);
});

it('[CAP-4] leaves a file that is there already as it is, says so, and records', async () => {
  const there = home.write('far/other/notes.txt', 'mine\n');
  const { one } = mirrored(there);
  const sender = await one.sender();
  await until('the fault', () => one.state()?.fault?.includes(`move ${there} there away`));
  await sender.send(word);
  await one.line(/ S1 /);
  one.signal('SIGINT');
  expect(await one.exited()).toBe(0);
  expect(textAt(there)).toBe('mine\n');
});

it('[CAP-4] records whole without the other host, and says what is wrong with it', async () => {
  await server.stop();
  try {
    const { one, far } = mirrored();
    const sender = await one.sender();
    await sender.send(word);
    await one.line(/ S1 /);
    await until('the fault', () => one.state()?.fault?.includes('nothing takes SSH connections there'));
    one.signal('SIGINT');
    expect(await one.exited()).toBe(0);
    expect(one.lines().at(-1)).toMatch(/^# ended/);
    expect(existsSync(dirname(far))).toBe(false);
    expect(one.state()).toMatchObject({ phase: 'ended', error: null, fault: expect.any(String) });
  } finally {
    await server.restart();
  }
});
