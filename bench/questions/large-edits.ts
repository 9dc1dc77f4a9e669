import { join } from 'node:path';
import { DOCUMENT_LIMITS, FIELD_LIMITS, WRITE_LIMITS } from '../../src/contract/document-limits.ts';
import { BENCH_HOST, startDaemon } from '../daemon.ts';
import { type Bench, judged, median } from '../frame.ts';
import { withScratch } from '../scratch.ts';
import { generateStore } from '../stores.ts';

const ROUNDS = 10;
/** A fraction of the time after which a thread without a heartbeat is ended. */
const MOST_MS = 1_000;

/** Values that need quotes, which is what takes longest to write. */
const list = (count: number, chars: number) =>
  Array.from({ length: count }, (_, nth) => `${nth}: `.padEnd(chars, '#'));
const keys = (count: number, value: unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, nth) => [`key${nth}`, value]));

/** Writes as large as one may be. */
const EDITS: Record<string, (round: number) => object> = {
  'set with all its keys': (round) => ({ set: keys(WRITE_LIMITS.set_keys, `round: ${round}`) }),
  'all tags': (round) => ({
    tags: [...list(FIELD_LIMITS.tags - 1, FIELD_LIMITS.tag_chars), `round ${round}`],
  }),
  'the longest outcome': (round) => ({ outcome: `${round}: "`.padEnd(FIELD_LIMITS.outcome_chars, 'ü') }),
  'the longest frontmatter': (round) => ({
    set: { long: `${round}: `.padEnd(DOCUMENT_LIMITS.written_frontmatter_chars - 4_096, '#') },
  }),
  'as many values as there is room for': (round) => ({ set: { many: [...list(4_000, 8), round] } }),
  'the longest body': (round) => ({ body: `${round}`.padEnd(3_900_000, 'x') }),
};

export const bench: Bench = {
  name: 'large-edits',
  question: 'how long does POST /fiber-edit take at each of its limits, and GET /state beside it?',
  run: () =>
    withScratch(async (folder) => {
      const { root } = generateStore(join(folder, 's'), {
        fibers: 10,
        host: BENCH_HOST,
        project_dir: folder,
      });
      const daemon = await startDaemon({ folder, stores: [root] });
      try {
        await daemon.fresh();
        const figures = [];
        for (const [name, editOf] of Object.entries(EDITS)) {
          const created = await daemon.json('POST', '/api/v1/fiber/create', { name });
          const { id: fiber_id } = (created.body as { fiber: { id: string } }).fiber;
          const edits: number[] = [];
          const states: number[] = [];
          for (let round = 0; round < ROUNDS; round += 1) {
            const edit = timed(() =>
              daemon.json('POST', '/api/v1/fiber-edit', { fiber_id, ...editOf(round) }),
            );
            const state = timed(() => daemon.json('GET', '/api/v1/state'));
            edits.push(await edit);
            states.push(await state);
          }
          const against = [
            { name: 'median', value: median(edits), unit: 'ms' },
            { name: 'longest /state', value: Math.max(...states), unit: 'ms' },
          ];
          figures.push(judged({ name, value: Math.max(...edits), unit: 'ms', against }, { most: MOST_MS }));
        }
        return figures;
      } finally {
        await daemon.stop();
      }
    }),
};

async function timed(call: () => Promise<{ status: number; body: unknown }>): Promise<number> {
  const began = performance.now();
  const { status, body } = await call();
  if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`);
  return performance.now() - began;
}
