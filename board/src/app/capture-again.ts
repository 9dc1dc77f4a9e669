import { get, post } from '../lib/api.ts';
import { awaitCapture } from '../lib/awaited-captures.ts';
import { toast } from '../lib/toasts.ts';
import type { LostCapture } from '../model/notices.ts';
import { titleOf } from '../model/task-text.ts';
import type { Captured, CaptureRequest } from '../model/wire.ts';

/** The starting of a worker takes this long at most. */
const START_MS = 60_000;

/** Null, or the sentence of the daemon on why it was not captured. */
export async function captureAgain({ run_id, text_file, request }: LostCapture): Promise<string | null> {
  const kept = await get<string>(`/file?path=${encodeURIComponent(text_file)}`);
  if (!kept.ok) return kept.message;
  const prompt = kept.value;
  const body: CaptureRequest = { ...request, prompt };
  const sent = await post<Captured>('/capture', body, { timeout_ms: START_MS, seen: run_id });
  if (!sent.ok) return sent.message;
  const title = titleOf(prompt);
  awaitCapture(sent.value.run_id, title);
  toast(`A worker files “${title}”.`);
  const dismissed = await post('/incidents/dismiss', { id: run_id });
  return dismissed.ok ? null : dismissed.message;
}
