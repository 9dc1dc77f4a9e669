import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Connection, openConnection } from '../connection.ts';
import { startDaemon, wait } from '../daemon.ts';
import { type Bench, type Figure, judged, median, percentile } from '../frame.ts';
import { withScratch } from '../scratch.ts';
import { generateStore } from '../stores.ts';

const FIBERS = 10_000;
const EDITS = 200;
const ADDITIONS = 40;
const LATE_MS = 60;
/** How often a client asks whether something moved. */
const ASK_MS = 2;
const GIVE_UP_MS = 20_000;

export const bench: Bench = {
  name: 'edit-visible',
  question: 'how long from a save in an editor to the row in GET /fibers, among 10,000 fibers?',
  run: (log) =>
    withScratch(async (folder) => {
      const { root, documents } = generateStore(join(folder, 's'), {
        fibers: FIBERS,
        host: 'elsewhere',
        project_dir: '/srv',
      });
      const daemon = await startDaemon({ folder, stores: [root] });
      let connection: Connection | null = null;
      try {
        await daemon.fresh();
        await wait(3_000);
        await daemon.loopDelay();
        connection = await openConnection(daemon.port);
        const client = new Client(connection);
        await client.see(`"id":`);
        const edits: number[] = [];
        for (let edit = 0; edit < EDITS; edit += 1) {
          const path = documents[(edit * 7_919) % documents.length] ?? '';
          const mark = `Edited for the ${edit}th time.`;
          const text = readFileSync(path, 'utf8').replace(/^outcome: .*$/m, `outcome: ${mark}`);
          edits.push(await client.timed(mark, () => writeFileSync(path, text)));
          await wait((edit * 37) % 200);
        }
        log(`${EDITS} edits took ${Math.min(...edits).toFixed(0)} to ${Math.max(...edits).toFixed(0)} ms`);
        const additions = { at_once: [] as number[], late: [] as number[], nested: [] as number[] };
        for (let addition = 0; addition < ADDITIONS; addition += 1) {
          const beside = dirname(documents[(addition * 911) % documents.length] ?? '');
          for (const [kind, times] of Object.entries(additions)) {
            const leaf = `${kind}-${addition}`;
            const folder = kind === 'nested' ? join(beside, `tree-${addition}`, leaf) : join(beside, leaf);
            if (kind !== 'at_once') mkdirSync(folder, { recursive: true });
            if (kind === 'late') await wait(LATE_MS);
            times.push(
              await client.timed(`/${leaf}"`, () => {
                mkdirSync(folder, { recursive: true });
                writeFileSync(join(folder, `${leaf}.md`), `---\nname: ${leaf}\n---\nA new fiber.\n`);
              }),
            );
            await wait((addition * 37) % 200);
          }
        }
        return [
          figure('an edit, p99', edits, 150),
          figure('a new fiber, p99', additions.at_once, 150),
          figure(`its document ${LATE_MS} ms after its folder, p99`, additions.late, 150),
          figure('in a tree just made, p99', additions.nested, 150),
          await daemon.loopFigure('while clients fetch the whole feed'),
        ];
      } finally {
        connection?.close();
        await daemon.stop();
      }
    }),
};

function figure(name: string, values: number[], most: number): Figure {
  const against = [
    { name: 'median', value: median(values), unit: 'ms' },
    { name: 'longest', value: Math.max(...values), unit: 'ms' },
  ];
  return judged({ name, value: percentile(values, 99), unit: 'ms', against }, { most });
}

/** A client that asks with the tag it has, and reads the whole feed when that moved. */
class Client {
  #connection: Connection;
  #etag: string | null = null;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Milliseconds from `change` to a feed that holds `text`. */
  async timed(text: string, change: () => void): Promise<number> {
    const from = performance.now();
    change();
    await this.see(text);
    return performance.now() - from;
  }

  async see(text: string): Promise<void> {
    const from = performance.now();
    for (;;) {
      const answer = await this.#connection.get('/api/v1/fibers', this.#etag);
      if (answer.status === 200) {
        this.#etag = answer.etag;
        if (answer.body.includes(text)) return;
      }
      if (performance.now() - from > GIVE_UP_MS) throw new Error(`${text} never showed in the feed`);
      await wait(ASK_MS);
    }
  }
}
