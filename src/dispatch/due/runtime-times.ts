import type { FiberDocument } from '../../contract/fiber.ts';

/** True when the worker of the last dispatch handed off after it started (RES-2). */
export function handedOff(document: FiberDocument): boolean {
  const runtime = document.svc?.runtime;
  const [dispatched, handed] = [timeOf(runtime?.dispatched_at), timeOf(runtime?.handed_off_at)];
  return handed !== null && (dispatched === null || handed > dispatched);
}

/** A document's time in milliseconds; null when it is absent or unreadable. */
export function timeOf(text: string | undefined): number | null {
  const at = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(at) ? null : at;
}
