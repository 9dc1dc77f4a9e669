import { type Clock, sleep } from '../../../base/clock.ts';
import { messageOf } from '../../../base/errors.ts';
import { remoteAddress } from '../../../config/remotes.ts';
import type { FiberRow } from '../../../contract/fiber.ts';
import { fibersFeedSchema } from '../../../contract/http/fibers.ts';
import type { Remote } from '../../../contract/operator-files.ts';
import { requestJson } from '../../../platform/http-client.ts';
import { serverAt } from '../../../platform/own-socket.ts';
import { renderList } from '../fiber/page.ts';

/** How long a new tunnel may take until a daemon answers at its near end, in milliseconds. */
const WITHIN_MS = 15_000;
const EVERY_MS = 250;
const ANSWER_MS = 5_000;
const MOST_BYTES = 32 * 1024 * 1024;
const MOST_ROWS = 5;

/** The first fibers of a new remote, as a page; why there are none where its daemon does not tell them in time. */
export async function firstRows(
  remote: Remote,
  clock: Clock,
  width: number,
): Promise<{ page: string } | { why: string }> {
  const until = clock.now() + WITHIN_MS;
  for (;;) {
    const told = await rowsOf(remote);
    if ('rows' in told) return { page: pageOf(remote.name, told.rows, width) };
    if (clock.now() >= until) return told;
    await sleep(clock, EVERY_MS);
  }
}

async function rowsOf(remote: Remote): Promise<{ rows: FiberRow[] } | { why: string }> {
  const address = remoteAddress(remote);
  if (address === null) return { why: 'its entry names no address' };
  try {
    const limits = { deadline_ms: ANSWER_MS, most_bytes: MOST_BYTES };
    const to = await serverAt(address);
    const { status, body } = await requestJson({
      to,
      method: 'GET',
      path: '/api/v1/fibers?svc=1',
      ...limits,
    });
    const feed = fibersFeedSchema.safeParse(body);
    if (status !== 200 || !feed.success) return { why: `it answered with ${status}` };
    if (feed.data.host !== remote.name) return { why: `${feed.data.host} answers there` };
    if (feed.data.state === 'cold') return { why: 'it has not read its stores yet' };
    return { rows: feed.data.fibers };
  } catch (error) {
    return { why: messageOf(error) };
  }
}

/** What runs comes first, then what is open. */
function pageOf(name: string, rows: readonly FiberRow[], width: number): string {
  const rank = ({ runtime, status }: FiberRow) => (runtime != null ? 0 : status === 'closed' ? 2 : 1);
  const running = rows.filter((row) => rank(row) === 0).length;
  const first = rows.toSorted((one, other) => rank(one) - rank(other)).slice(0, MOST_ROWS);
  const counted = `${name} has ${rows.length} ${rows.length === 1 ? 'fiber' : 'fibers'}, ${running} at work.\n`;
  return first.length === 0 ? counted : `${counted}\n${renderList(first, width)}`;
}
