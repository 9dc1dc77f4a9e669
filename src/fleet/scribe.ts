import { z } from 'zod';
import { harnessNameSchema } from '../contract/harness-name.ts';
import type { Scribe, ScribeQuery } from '../contract/threads/fleet.ts';
import type { CopyOfRemote } from './fleet-feeds.ts';

const rowSchema = z.object({
  id: z.string(),
  uid: z.string().nullish(),
  svc: z.object({ runtime: z.object({ meeting: z.string().optional() }).optional() }).optional(),
  runtime: z.object({ harness: z.string(), session_uuid: z.string().nullable() }).optional(),
});

/** The fiber of a meeting in the copies of other hosts, and the session of its worker; null for none (MTR-5). */
export function scribeIn(copies: readonly CopyOfRemote[], { launch, joined }: ScribeQuery): Scribe | null {
  // Only rows that have the text are parsed.
  const sign = signOf(launch, joined);
  for (const { name, copy } of copies) {
    if (joined !== null && joined.host !== name) continue;
    for (const json of copy?.rowsWith(sign) ?? []) {
      const found = scribeOf(name, json);
      if (found === null) continue;
      const { meeting, ...scribe } = found;
      if (joined === null ? meeting === launch : isJoined(scribe, joined)) return scribe;
    }
  }
  return null;
}

function signOf(launch: string, joined: ScribeQuery['joined']): string {
  if (joined === null) return `"meeting":${JSON.stringify(launch)}`;
  return joined.uid === null ? `"id":${JSON.stringify(joined.fiber)}` : `"uid":${JSON.stringify(joined.uid)}`;
}

function isJoined({ fiber, uid }: Scribe, joined: NonNullable<ScribeQuery['joined']>): boolean {
  return joined.uid === null ? fiber === joined.fiber : uid === joined.uid;
}

function scribeOf(host: string, json: string): (Scribe & { meeting: string | undefined }) | null {
  const row = rowSchema.safeParse(JSON.parse(json));
  if (!row.success) return null;
  const { id, uid = null, svc, runtime } = row.data;
  const harness = harnessNameSchema.safeParse(runtime?.harness);
  const native_id = runtime?.session_uuid ?? null;
  const session = harness.success && native_id !== null ? { harness: harness.data, native_id } : null;
  return { host, fiber: id, uid, session, meeting: svc?.runtime?.meeting };
}
