import type { Settings } from '../../config/settings.ts';
import { memoryBytes } from '../../contract/memory-max.ts';
import type { MemoryLimits } from '../run-directory/worker-memory.ts';
import type { StartPolicy } from './start-gate.ts';

/** What a worker is expected to use until the machine tells: an agent program with its helpers, soon after its start. */
const EACH = { memory: 300e6, processes: 30, descriptors: 4, terminals: 1 };
/** Share of the memory of all workers that is kept for those that run. */
const KEPT_SHARE = 0.05;
const YOUNG_MS = 30_000;

/** The policy that these settings mean under these limits. */
export function startPolicy(
  settings: Pick<
    Settings,
    | 'floor_memory'
    | 'floor_processes'
    | 'floor_descriptors'
    | 'floor_terminals'
    | 'start_burst'
    | 'start_spacing_ms'
  >,
  limits: MemoryLimits,
): StartPolicy {
  const each = Math.min(EACH.memory, limits.worker ?? EACH.memory);
  return {
    floors: {
      memory: memoryBytes(settings.floor_memory, limits.machine) ?? 0,
      workers_memory: KEPT_SHARE * (limits.total ?? 0),
      processes: settings.floor_processes,
      descriptors: settings.floor_descriptors,
      terminals: settings.floor_terminals,
    },
    each: { ...EACH, memory: each, workers_memory: each },
    young_ms: YOUNG_MS,
    burst: settings.start_burst,
    spacing_ms: settings.start_spacing_ms,
  };
}
