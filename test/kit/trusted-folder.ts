import { mkdtempSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

export type TrustedFolder = { path: string; remove(): void };

/** A folder of a test's own that no other user can have made, which none below `/tmp` is; `remove` deletes it. */
export function trustedFolder(): TrustedFolder {
  const path = mkdtempSync(join(process.env.XDG_RUNTIME_DIR ?? homedir(), '.svc-test-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
