import type { Settings } from '../../config/settings.ts';
import { memoryBytes } from '../../contract/memory-max.ts';
import type { StartPolicy } from './start-gate.ts';

/** What a worker is expected to use until the machine tells: an agent program with its helpers, soon after its start. */
const EACH: StartPolicy['each'] = { memory: 300e6, processes: 30, descriptors: 4, terminals: 1 };
const YOUNG_MS = 30_000;

/** The policy that these settings mean on a machine with so much memory. */
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
  machine_bytes: number,
): StartPolicy {
  return {
    floors: {
      memory: memoryBytes(settings.floor_memory, machine_bytes) ?? 0,
      processes: settings.floor_processes,
      descriptors: settings.floor_descriptors,
      terminals: settings.floor_terminals,
    },
    each: EACH,
    young_ms: YOUNG_MS,
    burst: settings.start_burst,
    spacing_ms: settings.start_spacing_ms,
  };
}
