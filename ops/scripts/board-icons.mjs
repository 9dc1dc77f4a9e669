// Draws the icons of the installed board from board/src/icon.svg into board/public/assets, with the Chromium on the PATH.
// Run by hand after a change of the drawing: browsers keep assets for a year, so count VERSION up, here and where the
// names are used (board/index.html, board/public/manifest.webmanifest).
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const VERSION = 1;
const GROUND = '#2c4bc4';
const root = fileURLToPath(new URL('../../', import.meta.url));
const into = join(root, 'board', 'public', 'assets');

/** `part`: how much of the square is the drawing. A whole square is cut to a shape by the system that shows it. */
const ICONS = [
  { name: 'icon-192', size: 192, part: 1, ground: 'transparent' },
  { name: 'icon-512', size: 512, part: 1, ground: 'transparent' },
  { name: 'icon-maskable-512', size: 512, part: 0.8, ground: GROUND },
  { name: 'icon-touch-180', size: 180, part: 0.86, ground: GROUND },
];

const svg = readFileSync(join(root, 'board', 'src', 'icon.svg'), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'board-icons-'));
try {
  for (const name of readdirSync(into)) if (name.endsWith('.png')) rmSync(join(into, name));
  for (const { name, size, part, ground } of ICONS) {
    const page = join(folder, `${name}.html`);
    const side = Math.round(size * part);
    writeFileSync(
      page,
      `<style>html,body{margin:0;height:100%;background:${ground}}body{display:grid;place-items:center}svg{width:${side}px;height:${side}px}</style>${svg}`,
    );
    const { status, stderr } = spawnSync(
      process.env.CHROMIUM ?? 'chromium',
      [
        ...['--headless=new', '--no-sandbox', '--disable-gpu', '--hide-scrollbars'],
        ...[`--user-data-dir=${join(folder, 'profile')}`, '--default-background-color=00000000'],
        ...[`--window-size=${size},${size}`, `--screenshot=${join(into, `${name}-${VERSION}.png`)}`],
        page,
      ],
      { encoding: 'utf8', timeout: 60_000 },
    );
    if (status !== 0) throw new Error(`Chromium ended with ${status}: ${stderr}`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
