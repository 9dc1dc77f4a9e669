/** What comes from the daemon, as its contract says; types alone, so that no schema is bundled. */

export type { FiberRow } from '../../../src/contract/fiber.ts';
export type { Booting } from '../../../src/contract/http/booting.ts';
export type { FibersDelta, FibersWhole } from '../../../src/contract/http/fibers.ts';
export type { LiveMessage } from '../../../src/contract/http/live.ts';
