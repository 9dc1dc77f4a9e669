import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export type GeneratedStore = {
  root: string;
  /** Absolute paths of the documents, in the order they were made. */
  documents: string[];
};

export type StoreShape = {
  fibers: number;
  /** Host in the `svc` blocks. */
  host: string;
  project_dir: string;
  /** How often a fiber has a `svc` block, from 0 to 1. */
  served?: number;
  seed?: number;
  /** Number of the first fiber: stores that one daemon polls must not share names. */
  first?: number;
};

/**
 * Writes a store as a year of work leaves it: projects, topics below them, tasks below those, most with a
 * `svc` block, bodies of 1 to 4 kB with a `## Status` section. The same shape and seed give the same bytes.
 */
export function generateStore(root: string, shape: StoreShape): GeneratedStore {
  const random = mulberry(shape.seed ?? 7);
  const documents: string[] = [];
  const base = join(root, '.fibers');
  mkdirSync(base, { recursive: true });
  const folders: string[] = [];
  for (let index = 0; index < shape.fibers; index += 1) {
    const number = index + (shape.first ?? 0);
    const parent = parentFor(index, folders, random);
    const leaf = `${pick(NOUNS, random)}-${pick(VERBS, random)}-${number.toString(36)}`;
    const folder = parent === '' ? leaf : `${parent}/${leaf}`;
    folders.push(folder);
    const path = join(base, folder, `${leaf}.md`);
    mkdirSync(join(base, folder), { recursive: true });
    writeFileSync(path, document(number, shape, random));
    documents.push(path);
  }
  return { root, documents };
}

/** About one fiber in twelve heads a branch; branches are at most four deep. */
function parentFor(index: number, folders: string[], random: () => number): string {
  if (index < 12 || folders.length === 0) return '';
  for (let tries = 0; tries < 8; tries += 1) {
    const candidate = folders[Math.floor(random() * Math.max(1, folders.length / 12))] ?? '';
    if (candidate.split('/').length < 4) return candidate;
  }
  return folders[0] ?? '';
}

function document(index: number, shape: StoreShape, random: () => number): string {
  const status = random() < 0.5 ? 'closed' : random() < 0.5 ? 'active' : 'open';
  const lines = [
    '---',
    `id: ${uid(index, random)}`,
    `name: ${pick(VERBS, random)} the ${pick(NOUNS, random)} of the ${pick(NOUNS, random)}`,
    `status: ${status}`,
    ...(status === 'closed' && random() < 0.7 ? ['tempered: true'] : []),
    `tags: [${pick(NOUNS, random)}, ${pick(VERBS, random)}]`,
    `created-at: 2026-01-${two(1 + (index % 28))}T09:${two(index % 60)}:05.884Z`,
    `updated-at: 2026-02-${two(1 + (index % 28))}T17:${two((index * 7) % 60)}:41.120Z`,
    `outcome: ${sentence(random)}`,
    ...(random() < 0.2 ? [`due: 2026-03-${two(1 + (index % 28))}`] : []),
    ...(random() < (shape.served ?? 0.8) ? svcBlock(index, shape, random) : []),
    '---',
  ];
  return `${lines.join('\n')}\n${body(random)}`;
}

function svcBlock(index: number, shape: StoreShape, random: () => number): string[] {
  return [
    'svc:',
    '  kind: oneshot',
    `  host: ${shape.host}`,
    `  project_dir: ${shape.project_dir}`,
    '  agent: claude-sonnet',
    ...(random() < 0.5
      ? [
          '  runtime:',
          `    dispatched_at: 2026-02-${two(1 + (index % 28))}T16:00:00.000Z`,
          `    handed_off_at: 2026-02-${two(1 + (index % 28))}T17:00:00.000Z`,
          `    session_uuid: 8d1c0a4e-0000-4000-8000-${index.toString(16).padStart(12, '0')}`,
          '    harness: claude',
          `    run_id: run-${index.toString(36)}`,
        ]
      : []),
  ];
}

/** 1 to 4 kB of markdown. */
function body(random: () => number): string {
  const length = 1_000 + Math.floor(random() * 2_800);
  const parts = ['\n'];
  let written = 0;
  while (written < length) {
    const paragraph = Array.from({ length: 4 }, () => sentence(random)).join(' ');
    parts.push(`${paragraph}\n\n`);
    written += paragraph.length + 2;
  }
  return `${parts.join('')}## Status\n\n${sentence(random)}\n`;
}

function sentence(random: () => number): string {
  return `The ${pick(NOUNS, random)} ${pick(VERBS, random)}s the ${pick(NOUNS, random)} before the ${pick(NOUNS, random)} is read.`;
}

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** A well-formed ULID that no other fiber of the store has. */
function uid(index: number, random: () => number): string {
  let text = `01K${index.toString().padStart(9, '0')}`;
  while (text.length < 26) text += CROCKFORD[Math.floor(random() * 32)];
  return text;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}

function pick(words: readonly string[], random: () => number): string {
  return words[Math.floor(random() * words.length)] ?? '';
}

/** A small generator with a seed, so that every run measures the same bytes. */
function mulberry(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const NOUNS = [
  'loader',
  'parser',
  'ledger',
  'index',
  'figure',
  'sample',
  'table',
  'curve',
  'panel',
  'chapter',
  'report',
  'channel',
  'monitor',
  'archive',
  'schema',
  'queue',
  'reader',
  'writer',
  'lock',
  'journal',
];
const VERBS = [
  'rewrite',
  'measure',
  'compare',
  'collect',
  'check',
  'merge',
  'split',
  'draw',
  'prove',
  'trim',
  'rename',
  'document',
  'port',
  'bound',
  'replay',
  'sort',
];
