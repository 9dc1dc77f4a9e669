import { z } from 'zod';
import { within } from '../../../base/clock.ts';
import { readSettings } from '../../../config/settings.ts';
import type { CliContext } from '../../command-line/verb.ts';
import { connectDaemon } from '../../daemon-client/client.ts';
import { placedRowSchema, placeWords } from '../status/place.ts';

/** How long a list waits for the daemon, in milliseconds: the documents alone are a list too. */
const WAIT_MS = 2_000;
const rowsSchema = z.object({ host: z.string(), fibers: z.array(placedRowSchema) });

/** By the path of its document, what a fiber does that is to be worked on; empty where no daemon tells. */
export async function readStandings(context: CliContext): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const read = async () => {
    const daemon = await connectDaemon(readSettings(context.env));
    const { host, fibers } = await daemon.get('/fibers?svc=1', rowsSchema);
    const now = context.clock.now();
    for (const row of fibers) {
      const words = placeWords(row, host, now);
      if (words !== null) found.set(row.path, words);
    }
  };
  await within(context.clock, WAIT_MS, read());
  return found;
}
