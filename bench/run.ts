// `npm run bench [-- name…] [--check]`: runs the questions, prints a table of each, writes one JSON report.
// With `--check` a missed target ends it with exit code 1.
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { missed, runBenches, saveReport } from './frame.ts';
import { bench as activity } from './questions/activity.ts';
import { bench as audioRelay } from './questions/audio-relay.ts';
import { bench as boardClients } from './questions/board-clients.ts';
import { bench as boardDesk } from './questions/board-desk.ts';
import { bench as boardEdits } from './questions/board-edits.ts';
import { bench as boardMemory } from './questions/board-memory.ts';
import { bench as boardSizes } from './questions/board-sizes.ts';
import { bench as connectGate } from './questions/connect-gate.ts';
import { bench as dispatchLatency } from './questions/dispatch-latency.ts';
import { bench as editVisible } from './questions/edit-visible.ts';
import { bench as endNoticed } from './questions/end-noticed.ts';
import { bench as eventsIndex } from './questions/events-index.ts';
import { bench as fibers304 } from './questions/fibers-304.ts';
import { bench as fileThroughput } from './questions/file-throughput.ts';
import { bench as fleetFeed } from './questions/fleet-feed.ts';
import { bench as fleetHung } from './questions/fleet-hung.ts';
import { bench as fleetIdle } from './questions/fleet-idle.ts';
import { bench as forward } from './questions/forward.ts';
import { bench as framePath } from './questions/frame-path.ts';
import { bench as hookStart } from './questions/hook-start.ts';
import { bench as idleCost } from './questions/idle-cost.ts';
import { bench as largeEdits } from './questions/large-edits.ts';
import { bench as largeStore } from './questions/large-store.ts';
import { bench as largeWork } from './questions/large-work.ts';
import { bench as listingCold } from './questions/listing-cold.ts';
import { bench as live } from './questions/live.ts';
import { bench as mainLoopDelay } from './questions/main-loop-delay.ts';
import { bench as memoryFlat } from './questions/memory-flat.ts';
import { bench as messageDelivery } from './questions/message-delivery.ts';
import { bench as messageReceipts } from './questions/message-receipts.ts';
import { bench as pollUnchanged } from './questions/poll-unchanged.ts';
import { bench as readRoutes } from './questions/read-routes.ts';
import { bench as search } from './questions/search.ts';
import { bench as startup } from './questions/startup.ts';
import { bench as terminal } from './questions/terminal.ts';
import { bench as versionThroughput } from './questions/version-throughput.ts';

const BENCHES = [
  versionThroughput,
  fibers304,
  readRoutes,
  memoryFlat,
  messageDelivery,
  messageReceipts,
  pollUnchanged,
  listingCold,
  editVisible,
  live,
  dispatchLatency,
  endNoticed,
  connectGate,
  mainLoopDelay,
  largeEdits,
  largeStore,
  largeWork,
  search,
  fileThroughput,
  forward,
  fleetFeed,
  fleetHung,
  fleetIdle,
  eventsIndex,
  activity,
  framePath,
  audioRelay,
  hookStart,
  idleCost,
  startup,
  terminal,
  boardSizes,
  boardDesk,
  boardEdits,
  boardClients,
  boardMemory,
];

const { values, positionals } = parseArgs({
  options: { check: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const unknown = positionals.filter((name) => !BENCHES.some((bench) => bench.name === name));
if (unknown.length > 0) {
  const names = BENCHES.map((bench) => bench.name).join(', ');
  process.stderr.write(`bench: no question is named ${unknown.join(', ')}; there are ${names}\n`);
  process.exit(2);
}
const chosen =
  positionals.length === 0 ? BENCHES : BENCHES.filter((bench) => positionals.includes(bench.name));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
const log = (line: string) => void process.stdout.write(`${line}\n`);
const report = await runBenches(chosen, log);
log(`\nreport: ${saveReport(report, fileURLToPath(new URL('results', import.meta.url)))}`);
const misses = missed(report);
for (const line of misses) log(`missed: ${line}`);
process.exit(values.check && misses.length > 0 ? 1 : 0);
