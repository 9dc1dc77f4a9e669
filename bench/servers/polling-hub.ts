// The baseline of a hub: asks every host for its whole feed at an interval, for a while, and prints what came of it as JSON.
// With `etag` it says which answer it has, so that an unchanged feed is not sent.
import { Agent, get } from 'node:http';
import { join } from 'node:path';
import { editIn, type PollingHub, type PollingResult, type SeenEdit } from '../remote-hosts.ts';

const [, , given = ''] = process.argv;
const { folder, hosts, interval_ms, etag, for_ms }: PollingHub = JSON.parse(given);

type Known = { etag: string; rows: Map<string, string> };

const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const seen: SeenEdit[] = [];
let [bytes, answers, unchanged] = [0, 0, 0];
const began = performance.now();
const before = process.cpuUsage();
await Promise.all(hosts.map((host, at) => follow(host, (at * interval_ms) / hosts.length)));
const { user, system } = process.cpuUsage(before);
const ms = performance.now() - began;
const result: PollingResult = { seen, cpu: (user + system) / 10 / ms, bytes, answers, unchanged };
process.stdout.write(JSON.stringify(result));
agent.destroy();

async function follow(host: string, offset_ms: number): Promise<void> {
  const known: Known = { etag: '', rows: new Map() };
  for (let due = offset_ms; due < for_ms; due = nextAfter(due)) {
    await new Promise((resolve) => setTimeout(resolve, due - (performance.now() - began)));
    await ask(host, known);
  }
}

/** The turns that an answer took are left out. */
function nextAfter(due: number): number {
  const now = performance.now() - began;
  return due + interval_ms * Math.max(1, Math.ceil((now - due) / interval_ms));
}

async function ask(host: string, known: Known): Promise<void> {
  const answer = await read(host, etag ? known.etag : '');
  answers += 1;
  if (answer === null) {
    unchanged += 1;
    return;
  }
  const arrived = process.hrtime.bigint();
  bytes += answer.body.length;
  const { fibers } = JSON.parse(answer.body.toString()) as { fibers: { path: string; outcome?: string }[] };
  const isFirst = known.etag === '';
  for (const row of fibers) {
    const text = JSON.stringify(row);
    if (!isFirst && known.rows.get(row.path) !== text) seen.push(...editIn(host, row, arrived));
    known.rows.set(row.path, text);
  }
  known.etag = answer.etag;
}

/** Null where the host says that nothing changed. */
function read(host: string, if_none_match: string): Promise<{ etag: string; body: Buffer } | null> {
  const headers = if_none_match === '' ? {} : { 'If-None-Match': if_none_match };
  return new Promise((resolve, reject) => {
    const options = { agent, socketPath: join(folder, `${host}.sock`), path: '/api/v1/fibers', headers };
    get(options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const { etag = '' } = response.headers;
        resolve(response.statusCode === 304 ? null : { etag, body: Buffer.concat(chunks) });
      });
    }).on('error', reject);
  });
}
