import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { MAX_DOCUMENT_BYTES } from '../../../src/fibers/document.ts';
import { HOSTILE_TEXTS } from '../../faults/hostile-documents.ts';
import type { Hostile } from './plan.ts';

/** A fiber as persons know it: what they wrote, and what they were told is written. */
export type SimulatedFiber = {
  uid: string;
  root: string;
  /** Index of the host that its document names. */
  host: number;
  host_id: string;
  kind: 'oneshot' | 'pinned' | 'standing';
  project_dir: string;
  leaf: string;
  /** The store that a copy of it may be in; its own where there is but one. */
  other_root: string;
  exists: boolean;
  /** What stands in the document's place, with the text that stood there before. */
  hostile: { is: Hostile; before: string; leaf: string } | null;
  is_locked: boolean;
  /** The last edits: each value that may be in the document now. */
  notes: Set<number>;
  note: number;
};

const STATUSES = /^status: (open|active|closed)$/m;

export function pathOf(fiber: SimulatedFiber): string {
  return join(fiber.root, '.fibers', fiber.leaf, `${fiber.leaf}.md`);
}

export function writeNewDocument(fiber: SimulatedFiber, armed: boolean): void {
  const lines = [
    '---',
    `id: ${fiber.uid}`,
    `name: ${fiber.leaf}`,
    `status: ${armed ? 'active' : 'open'}`,
    'created-at: 2026-01-01T00:00:00.000Z',
    `kept: ${markOf(fiber)}`,
    'note: 0',
    'svc:',
    `  kind: ${fiber.kind}`,
    `  host: ${fiber.host_id}`,
    `  project_dir: ${fiber.project_dir}`,
    ...(fiber.kind === 'standing' ? ['  schedule: "*/5 * * * *"'] : []),
    '---',
    bodyOf(fiber),
  ];
  mkdirSync(dirname(pathOf(fiber)), { recursive: true });
  writeByHand(pathOf(fiber), lines.join('\n'));
}

/** Changes the text as an editor does: with a new file in place of the old one, and without a lock. */
export function editByHand(fiber: SimulatedFiber, change: (text: string) => string): void {
  const path = pathOf(fiber);
  writeByHand(path, change(readFileSync(path, 'utf8')));
}

export function setStatus(fiber: SimulatedFiber, status: string): void {
  editByHand(fiber, (text) =>
    text
      .replace(/^status: .*$/m, `status: ${status}`)
      .replace(/^closed-at: .*\n/m, '')
      .replace(/^tempered: .*\n/m, ''),
  );
}

/** Null where the document cannot be read as one. */
export function statusOf(fiber: SimulatedFiber): string | null {
  if (!fiber.exists || fiber.hostile !== null) return null;
  return STATUSES.exec(readFileSync(pathOf(fiber), 'utf8'))?.[1] ?? null;
}

/** What is wrong with the document on disk, against what persons know of it; null when nothing is. */
export function faultOfDocument(fiber: SimulatedFiber): string | null {
  if (!fiber.exists) return null;
  const path = pathOf(fiber);
  if (fiber.hostile !== null) return faultOfHostile(fiber, fiber.hostile.is);
  if (!existsSync(path)) return `${path} is gone`;
  const text = readFileSync(path, 'utf8');
  const missing = [`id: ${fiber.uid}`, `kept: ${markOf(fiber)}`, `  host: ${fiber.host_id}`].find(
    (line) => !text.includes(`\n${line}\n`),
  );
  if (missing !== undefined) return `${path} lost "${missing}"`;
  if (!STATUSES.test(text)) return `${path} lost its status`;
  if (!text.endsWith(`\n---\n${bodyOf(fiber)}`)) return `${path} lost its body`;
  const note = Number(/^note: (\d+)$/m.exec(text)?.[1]);
  if (!fiber.notes.has(note))
    return `${path} has the note ${note}, and only ${[...fiber.notes].join(' or ')} was written`;
  return null;
}

/** Puts something hostile where the document is. */
export function spoil(fiber: SimulatedFiber, is: Hostile): void {
  const path = pathOf(fiber);
  const before = readFileSync(path, 'utf8');
  fiber.hostile = { is, before, leaf: fiber.leaf };
  if (isCopy(is)) {
    mkdirSync(dirname(copyOf(fiber, is)), { recursive: true });
    writeByHand(copyOf(fiber, is), before);
    return;
  }
  const text = hostileText(is);
  if (text !== null) {
    writeByHand(path, text);
    return;
  }
  rmSync(path);
  if (is === 'folder') mkdirSync(path);
  else if (is === 'dangling_link') symlinkSync('/does/not/exist', path);
  else {
    writeFileSync(path, '---\n');
    truncateSync(path, MAX_DOCUMENT_BYTES + 1);
  }
}

/** Puts the document back as it was. */
export function mend(fiber: SimulatedFiber): void {
  const { hostile } = fiber;
  if (hostile === null) return;
  fiber.hostile = null;
  if (isCopy(hostile.is)) {
    rmSync(dirname(copyOf({ ...fiber, leaf: hostile.leaf }, hostile.is)), { recursive: true });
    return;
  }
  rmSync(pathOf(fiber), { recursive: true, force: true });
  writeByHand(pathOf(fiber), hostile.before);
}

/** Moves the fiber's folder, as a person does with `mv`. */
export function moveByHand(fiber: SimulatedFiber, leaf: string): void {
  const from = dirname(pathOf(fiber));
  const to = join(dirname(from), leaf);
  renameSync(from, to);
  renameSync(join(to, `${fiber.leaf}.md`), join(to, `${leaf}.md`));
  fiber.leaf = leaf;
}

export function removeByHand(fiber: SimulatedFiber): void {
  rmSync(dirname(pathOf(fiber)), { recursive: true });
  fiber.exists = false;
}

/** Another machine's program holds the document: nobody here can tell whether it lives. */
export function setLock(fiber: SimulatedFiber, locked: boolean): void {
  const path = join(dirname(pathOf(fiber)), `.${fiber.leaf}.lock`);
  fiber.is_locked = locked;
  if (!locked) {
    rmSync(path, { force: true });
    return;
  }
  const holder = { host: 'elsewhere', pid: 1, start_time: null, boot_id: null, pid_ns: null, nonce: 'x' };
  writeFileSync(path, JSON.stringify(holder));
}

function markOf(fiber: SimulatedFiber): string {
  return `kept-${fiber.uid.slice(-4)}`;
}

function bodyOf(fiber: SimulatedFiber): string {
  return `The text of ${fiber.uid}.\n${'A line that nobody changes.\n'.repeat(20)}The end of ${fiber.uid}.\n`;
}

export function isCopy(is: string): boolean {
  return is === 'copy' || is === 'copy_elsewhere';
}

export function copyOf(fiber: Pick<SimulatedFiber, 'leaf' | 'root' | 'other_root'>, is: string): string {
  const leaf = `${fiber.leaf}-copy`;
  return join(is === 'copy' ? fiber.root : fiber.other_root, '.fibers', leaf, `${leaf}.md`);
}

function hostileText(is: Hostile): string | Buffer | null {
  switch (is) {
    case 'not_yaml':
      return '---\nname: [x\n  - : :\n---\ntext\n';
    case 'wrong_types':
    case 'binary':
    case 'no_end':
      return HOSTILE_TEXTS[is.replace('_', '-')] ?? null;
    default:
      return null;
  }
}

/** Nothing that cannot be read as a document is ever written. */
function faultOfHostile(fiber: SimulatedFiber, is: Hostile): string | null {
  const path = pathOf(fiber);
  if (isCopy(is)) return null;
  const text = hostileText(is);
  if (text !== null)
    return readFileSync(path).equals(Buffer.from(text)) ? null : `${path} was written although it is ${is}`;
  if (is === 'huge') return statSync(path).size > MAX_DOCUMENT_BYTES ? null : `${path} was written`;
  if (is === 'folder') return statSync(path).isDirectory() ? null : `${path} was replaced`;
  return existsSync(path) ? `${path} was replaced` : null;
}

function writeByHand(path: string, content: string | Buffer): void {
  const draft = join(dirname(path), `.${basename(path)}.draft`);
  writeFileSync(draft, content);
  renameSync(draft, path);
}
