import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { HARNESS_NAMES } from '../../src/contract/harness-name.ts';
import { receiptSchema } from '../../src/contract/http/messages.ts';
import { until } from '../kit/until.ts';
import { linesSaid, listening } from './listening-worker.ts';
import { type RealDaemon, startRealDaemon, WITHIN_MS } from './real-daemon.ts';

let daemon: RealDaemon | undefined;
afterEach(async () => {
  await daemon?.stop();
  daemon = undefined;
});

const FILES = { 'notes of today.md': 'Hello.\n', 'data.bin': Buffer.alloc(100_000, 200) };
const TEXT = 'Please read these files.';

describe.each(HARNESS_NAMES)('a message with files to a worker of the real %s', (name) => {
  it('[MSG-4] [RCP-4] waits with them behind a draft and over kill -9, and names each once', async () => {
    daemon = await startRealDaemon(name);
    const one = daemon;
    const { session, shows, press } = await listening(one);
    for (const [file, bytes] of Object.entries(FILES)) writeFileSync(join(one.project_dir, file), bytes);
    const send = async () => {
      const files = Object.keys(FILES).flatMap((file) => ['--file', file]);
      const out = await one.svc('send', 'listens', TEXT, '--id', 'f-1', '--json', ...files);
      return receiptSchema.parse(JSON.parse(out));
    };
    await press('-l', 'my own draft');
    await shows('my own draft');
    const held = await send();
    expect(held).toMatchObject({ status: 'queued', transport: 'held', files: [{}, {}] });
    await one.killAndRestart();
    await press('Enter');
    await until('its receipt', async () => /submitted|accepted/.test((await send()).status), WITHIN_MS);

    expect((await send()).files).toEqual(held.files);
    const lines = await linesSaid(one, session, 'f-1');
    expect(lines).toHaveLength(1);
    const said = lines.join('\n');
    for (const { name: file, path, size, sha256 } of held.files!) {
      expect(said.split(`[file ${path} (${size} bytes, sha256 ${sha256})]`)).toHaveLength(2);
      expect(readFileSync(path)).toEqual(Buffer.from(FILES[file as keyof typeof FILES]));
      expect([statSync(path).mode & 0o777, statSync(dirname(path)).mode & 0o777]).toEqual([0o600, 0o700]);
    }
  });
});
