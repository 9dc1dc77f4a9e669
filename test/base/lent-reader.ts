import { parentPort, workerData } from 'node:worker_threads';
import { type LentBytes, Loan } from '../../src/base/lent-bytes.ts';

/** Reads the bytes that it was lent last whenever it can hold them, until told to stop; tells what it saw. */
const { stop } = workerData as { stop: SharedArrayBuffer };
let lent: Loan | null = null;
const seen = { held: 0, refused: 0, mixed: 0 };

function read(loan: Loan): void {
  const first = loan.bytes[0];
  if (loan.bytes.some((byte) => byte !== first)) seen.mixed += 1;
  seen.held += 1;
  loan.giveBack();
}

function again(): void {
  if (lent?.hold()) read(lent);
  else if (lent !== null) seen.refused += 1;
  if (Atomics.load(new Int32Array(stop), 0) === 0) {
    setImmediate(again);
    return;
  }
  parentPort!.postMessage(seen);
  parentPort!.close();
}

parentPort!.on('message', (bytes: LentBytes) => {
  lent = new Loan(bytes);
  read(lent);
  parentPort!.postMessage('read');
});
again();
