// A file system whose answers can be held back, as those of a disk on a machine that is gone: it speaks the kernel's
// FUSE protocol and needs no library. Names that end in `.txt` are files, those that begin with a dot are missing,
// all others are folders. With a second folder, its root has the files of that one, and no other `.json`. Commands come
// by lines: `hold`, `go`.
import { spawnSync } from 'node:child_process';
import { openSync, read, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const [, , folder, served = null] = process.argv;
const TEXT = Buffer.from('A line of a file on this disk.\n');
const OP = { lookup: 1, getattr: 3, open: 14, read: 15, statfs: 17, release: 18, flush: 25 };
const MORE = { init: 26, opendir: 27, readdir: 28, releasedir: 29, access: 34 };
/** FORGET, INTERRUPT, DESTROY, BATCH_FORGET: nobody waits for an answer. */
const UNANSWERED = [2, 36, 38, 42];
const ENOENT = -2;
const ENOSYS = -38;

const device = openSync('/dev/fuse', 'r+');
const options = 'fd=3,rootmode=40000,user_id=0,group_id=0,allow_other';
const mounted = spawnSync('mount', ['-i', '-t', 'fuse', '-o', options, 'held', folder], {
  stdio: ['ignore', 'inherit', 'inherit', device],
});
if (mounted.status !== 0) process.exit(1);

/** The text of a file, or null for a folder. */
const nodes = new Map([[1n, null]]);
const numbers = new Map();
let holding = false;
let held = [];

function numberOf(parent, name) {
  const key = `${parent}/${name}`;
  const number = numbers.get(key) ?? BigInt(nodes.size + 1);
  numbers.set(key, number);
  nodes.set(number, textOf(name));
  return number;
}

function textOf(name) {
  if (served !== null && name.endsWith('.json')) return readFileSync(join(served, name));
  return name.endsWith('.txt') ? TEXT : null;
}

function isMissing(name) {
  if (name.startsWith('.')) return true;
  try {
    textOf(name);
    return false;
  } catch {
    return true;
  }
}

function attributes(number) {
  const text = nodes.get(number) ?? null;
  const isFile = text !== null;
  const bytes = Buffer.alloc(88);
  bytes.writeBigUInt64LE(number, 0);
  bytes.writeBigUInt64LE(isFile ? BigInt(text.length) : 0n, 8);
  bytes.writeUInt32LE(isFile ? 0o100644 : 0o40755, 60);
  bytes.writeUInt32LE(1, 64);
  return bytes;
}

function answer({ opcode, number, body }) {
  switch (opcode) {
    case MORE.init: {
      const bytes = Buffer.alloc(64);
      bytes.writeUInt32LE(7, 0);
      bytes.writeUInt32LE(31, 4);
      bytes.writeUInt32LE(65_536, 20);
      return bytes;
    }
    case OP.lookup: {
      const name = body.toString('utf8', 0, body.indexOf(0));
      if (isMissing(name)) return ENOENT;
      const found = numberOf(number, name);
      const head = Buffer.alloc(40);
      head.writeBigUInt64LE(found, 0);
      return Buffer.concat([head, attributes(found)]);
    }
    case OP.getattr:
      return Buffer.concat([Buffer.alloc(16), attributes(number)]);
    case OP.open:
    case MORE.opendir:
      return Buffer.alloc(16);
    case OP.read:
      return nodes.get(number).subarray(Number(body.readBigUInt64LE(8)));
    case OP.statfs: {
      const bytes = Buffer.alloc(80);
      bytes.writeUInt32LE(4096, 40);
      bytes.writeUInt32LE(255, 44);
      bytes.writeUInt32LE(4096, 48);
      return bytes;
    }
    case MORE.readdir:
    case OP.release:
    case OP.flush:
    case MORE.releasedir:
    case MORE.access:
      return Buffer.alloc(0);
    default:
      return ENOSYS;
  }
}

function reply(request) {
  const said = answer(request);
  const payload = typeof said === 'number' ? Buffer.alloc(0) : said;
  const head = Buffer.alloc(16);
  head.writeUInt32LE(16 + payload.length, 0);
  head.writeInt32LE(typeof said === 'number' ? said : 0, 4);
  head.writeBigUInt64LE(request.unique, 8);
  try {
    writeSync(device, Buffer.concat([head, payload]));
  } catch (error) {
    // Whoever asked was ended meanwhile.
    if (error.code !== 'ENOENT') throw error;
  }
}

const buffer = Buffer.alloc(1024 * 1024);
function next() {
  read(device, buffer, 0, buffer.length, null, (error, size) => {
    if (error?.code === 'ENODEV') process.exit(0);
    if (error === null && size >= 40) take(Buffer.from(buffer.subarray(0, size)));
    next();
  });
}

function take(bytes) {
  const opcode = bytes.readUInt32LE(4);
  if (UNANSWERED.includes(opcode)) return;
  const request = {
    opcode,
    unique: bytes.readBigUInt64LE(8),
    number: bytes.readBigUInt64LE(16),
    body: bytes.subarray(40),
  };
  if (opcode === MORE.init) {
    reply(request);
    process.stdout.write('mounted\n');
  } else if (holding) held.push(request);
  else reply(request);
}

const COMMANDS = {
  hold: () => {
    holding = true;
  },
  go: () => {
    holding = false;
    for (const request of held) reply(request);
    held = [];
  },
};
createInterface({ input: process.stdin })
  .on('line', (line) => {
    COMMANDS[line]();
    process.stdout.write(`${line}\n`);
  })
  .on('close', () => process.exit(0));
next();
