import { z } from 'zod';
import { harnessNameSchema } from '../contract/harness-name.ts';
import type { Scribe, ScribeQuery } from '../contract/threads/fleet.ts';
import type { CopyOfRemote } from './fleet-feeds.ts';

const rowSchema = z.object({
  id: z.string(),
  svc: z.object({ runtime: z.object({ meeting: z.string().optional() }).optional() }).optional(),
  runtime: z.object({ harness: z.string(), session_uuid: z.string().nullable() }).optional(),
});

/** The fiber of a meeting in the copies of other hosts, and the session of its worker; null for none (MTR-5). */
export function scribeIn(copies: readonly CopyOfRemote[], { launch, joined }: ScribeQuery): Scribe | null {
  // Only rows that have the text are parsed.
  const sign =
    joined === null ? `"meeting":${JSON.stringify(launch)}` : `"id":${JSON.stringify(joined.fiber)}`;
  for (const { name, copy } of copies) {
    if (joined !== null && joined.host !== name) continue;
    for (const json of copy?.rowsWith(sign) ?? []) {
      const scribe = scribeOf(name, json);
      if (scribe !== null && (joined === null ? scribe.meeting === launch : scribe.fiber === joined.fiber))
        return { host: name, fiber: scribe.fiber, session: scribe.session };
    }
  }
  return null;
}

function scribeOf(host: string, json: string): (Scribe & { meeting: string | undefined }) | null {
  const row = rowSchema.safeParse(JSON.parse(json));
  if (!row.success) return null;
  const { id, svc, runtime } = row.data;
  const harness = harnessNameSchema.safeParse(runtime?.harness);
  const native_id = runtime?.session_uuid ?? null;
  const session = harness.success && native_id !== null ? { harness: harness.data, native_id } : null;
  return { host, fiber: id, session, meeting: svc?.runtime?.meeting };
}
