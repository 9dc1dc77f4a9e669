import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HOST } from './bed.ts';

/** A document's place for a folder name that may be any bytes. */
function place(base: string, name: string | Buffer): Buffer {
  const leaf = Buffer.from(name);
  const folder = Buffer.concat([Buffer.from(`${base}/`), leaf]);
  mkdirSync(folder, { recursive: true });
  return Buffer.concat([folder, Buffer.from('/'), leaf, Buffer.from('.md')]);
}

const armed = (more: string) =>
  `---\nname: hostile\nstatus: active\nsvc:\n  kind: oneshot\n  host: ${HOST}\n${more}---\nbody\n`;

/** Names that a shell, a terminal, tmux or JSON would take for something else. */
export const HOSTILE_NAMES = [
  'new\nline',
  'bell\x07and\x1b[2Jescape',
  '#(touch pwned)',
  '$(touch pwned)',
  "'; touch pwned; '",
  '`touch pwned`',
  '-rf',
  '..hidden',
  '%n%s',
  '\u202egnp.md',
  'é'.repeat(100),
  '__proto__',
  'constructor',
];

/** Frontmatter that no person would write. */
export const HOSTILE_TEXTS: Record<string, string | Buffer> = {
  empty: '',
  'no-end': '---\nname: x\n',
  'only-dashes': '---\n---\n---\n---\n',
  binary: Buffer.from(Array.from({ length: 4096 }, (_, nth) => (nth * 37) % 256)),
  nul: '---\nname: "a\0b"\nid: \0\n---\n\0',
  control: '---\nname: "\x1b]0;title\x07"\nstatus: active\n---\n\x1b[2J',
  bomb: `---\na: &a [x, x, x, x, x, x, x, x, x]\n${'bcdefghij'
    .split('')
    .map((name, nth) => `${name}: &${name} [${Array(9).fill(`*${'abcdefghij'[nth]}`).join(', ')}]`)
    .join('\n')}\n---\n`,
  cycle: '---\na: &a\n  b: *a\n---\n',
  deep: `---\na: ${'['.repeat(20_000)}${']'.repeat(20_000)}\n---\n`,
  'deep-block': `---\n${Array.from({ length: 2_000 }, (_, nth) => `${' '.repeat(nth)}k:`).join('\n')} v\n---\n`,
  'wrong-types': `---\nid: [1]\nname: {a: 1}\nstatus: 7\ntags: {x: y}\nsvc: 5\ntempered: maybe\ndue: []\n---\n`,
  'svc-list': '---\nname: x\nstatus: active\nsvc: [1, 2]\n---\n',
  prototype: '---\n__proto__: {polluted: true}\nconstructor: {prototype: {polluted: true}}\nname: x\n---\n',
  duplicate: '---\nname: a\nname: b\nid: 1\nid: 2\n---\n',
  tags: '---\nname: !!js/function "function () { process.exit(7) }"\nx: !!binary "!!"\n---\n',
  'many-keys': `---\n${Array.from({ length: 5_000 }, (_, nth) => `k${nth}: v`).join('\n')}\n---\n`,
  'long-line': `---\nname: ${'x'.repeat(500_000)}\n---\n`,
  bom: '\ufeff---\r\nname: x\r\n---\r\nbody\r\n',
  'same-uid-a': '---\nid: 01HOSTILE00000000000000000\nname: a\nstatus: active\n---\n',
  'same-uid-b': '---\nid: 01HOSTILE00000000000000000\nname: b\nstatus: active\n---\n',
  'path-up': armed('  project_dir: ../../..\n'),
  'path-nul': armed('  project_dir: "/tmp/\\0x"\n'),
  'path-device': armed('  project_dir: /dev/null\n'),
  'path-tmux': armed('  project_dir: "/tmp/#(touch pwned)"\n'),
  'path-number': armed('  project_dir: 12\n'),
  schedule: `---\nname: s\nstatus: active\nsvc: {kind: standing, host: ${HOST}, schedule: "* * * * * * * *"}\n---\n`,
  'schedule-huge': `---\nname: s\nstatus: active\nsvc: {kind: standing, host: ${HOST}, schedule: "0 0 31 2 *", tz: "Mars/Olympus"}\n---\n`,
  'runtime-odd': armed(
    '  runtime: {dispatched_at: never, handed_off_at: [1], session_uuid: {a: 1}, run_id: 5}\n',
  ),
};

/** Fills a store's `.fibers` with them, with links that lead nowhere and in circles, and with a huge file. */
export function writeHostileDocuments(base: string): void {
  for (const name of HOSTILE_NAMES) writeFileSync(place(base, name), armed('  project_dir: /tmp\n'));
  writeFileSync(place(base, Buffer.from([0x66, 0xff, 0xfe, 0x80])), 'not UTF-8 in its name\n');
  for (const [name, text] of Object.entries(HOSTILE_TEXTS)) writeFileSync(place(base, name), text);
  symlinkSync('.', join(base, 'loop'));
  symlinkSync('..', join(base, 'bomb', 'up'));
  mkdirSync(join(base, 'itself'));
  symlinkSync('itself.md', join(base, 'itself', 'itself.md'));
  mkdirSync(join(base, 'nowhere'));
  symlinkSync('/does/not/exist', join(base, 'nowhere', 'nowhere.md'));
  mkdirSync(join(base, 'zeros'));
  symlinkSync('/dev/zero', join(base, 'zeros', 'zeros.md'));
  mkdirSync(join(base, 'folder', 'folder.md'), { recursive: true });
  const huge = place(base, 'huge');
  writeFileSync(huge, '---\nname: huge\n---\n');
  truncateSync(huge, 3 * 1024 ** 3);
  let deep = base;
  for (let level = 0; level < 60; level += 1) deep = join(deep, `level-${level}`);
  mkdirSync(deep, { recursive: true });
}
