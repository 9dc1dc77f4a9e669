import { execFile } from 'node:child_process';
import { closeSync, ftruncateSync, mkdirSync, openSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startDaemon } from '../daemon.ts';
import { type Bench, type Figure, judged, median, shown } from '../frame.ts';
import { withScratch } from '../scratch.ts';
import { startNginx } from '../servers/nginx.ts';

const GB = 1_000_000_000;
const ROUNDS = 5;

export const bench: Bench = {
  name: 'file-throughput',
  question: 'how fast is a file of 1 GB sent, against nginx that reads and writes too?',
  run: (log) =>
    withScratch(async (folder) => {
      const root = join(folder, 'files');
      mkdirSync(root);
      mkdirSync(join(folder, 's/.fibers'), { recursive: true });
      const path = join(root, 'large');
      writeLarge(path);
      const daemon = await startDaemon({ folder, stores: [join(folder, 's')] });
      const nginx = await startNginx(join(folder, 'n'), root);
      try {
        const url = `http://127.0.0.1:${daemon.port}/api/v1/file?path=${encodeURIComponent(path)}`;
        const first = await fetchOnce(url);
        await daemon.loopDelay();
        const own: number[] = [];
        const theirs: number[] = [];
        for (let round = 0; round < ROUNDS; round += 1) {
          own.push(await fetchOnce(url));
          if (nginx !== null) theirs.push(await fetchOnce(`http://127.0.0.1:${nginx.port}/large`));
        }
        if (nginx === null) log('nginx is not installed, so there is nothing to hold the figure against');
        return [
          rateFigure(median(own), nginx === null ? null : median(theirs)),
          shown('the first time, with the digest of the whole file', first, 's'),
          await daemon.loopFigure('while 1 GB is sent again and again'),
        ];
      } finally {
        await nginx?.stop();
        await daemon.stop();
      }
    }),
};

function rateFigure(own_s: number, nginx_s: number | null): Figure {
  const name = '/file of 1 GB';
  if (nginx_s === null) return shown(name, GB / 1e6 / own_s, 'MB/s');
  const against = [
    { name: '/file', value: GB / 1e6 / own_s, unit: 'MB/s' },
    { name: 'nginx', value: GB / 1e6 / nginx_s, unit: 'MB/s' },
  ];
  return judged(
    { name: `${name}, as a part of nginx`, value: nginx_s / own_s, unit: '', against },
    { least: 0.8 },
  );
}

/** Seconds from the request to the last byte, as curl sees them; it throws the bytes away. */
async function fetchOnce(url: string): Promise<number> {
  const args = ['-sf', '-o', '/dev/null', '-w', '%{time_total} %{size_download}', url];
  const { stdout } = await promisify(execFile)('curl', args);
  const [seconds, size] = stdout.split(' ').map(Number);
  if (size !== GB) throw new Error(`${url} gave ${size} bytes`);
  return seconds ?? Number.NaN;
}

/** Takes no room on the disk: what is measured is the way from the page cache to the client. */
function writeLarge(path: string): void {
  const file = openSync(path, 'w');
  ftruncateSync(file, GB);
  closeSync(file);
  // Left alone for so long that its digest may be kept.
  utimesSync(path, 1_700_000_000, 1_700_000_000);
}
