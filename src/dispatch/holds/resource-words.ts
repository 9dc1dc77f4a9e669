import { showBytes } from '../../contract/memory-max.ts';
import type { Busy, Resource, ResourceHold } from './start-gate.ts';

const NAMES: Record<Exclude<Resource, 'memory' | 'workers_memory'>, string> = {
  processes: 'more processes',
  descriptors: 'more open files',
  terminals: 'more terminals',
};

/** What moves the floor of each resource. */
const SETTING_OF: Record<ResourceHold['what'], string> = {
  memory: 'SVC_FLOOR_MEMORY',
  workers_memory: 'memory_max_total in host.json',
  processes: 'SVC_FLOOR_PROCESSES',
  descriptors: 'SVC_FLOOR_DESCRIPTORS',
  terminals: 'SVC_FLOOR_TERMINALS',
  pace: 'SVC_START_SPACING_MS',
  busy: 'SVC_BUSY_LOAD',
};

/** How a person raises what the system allows, where there is such a limit. */
const LIMIT_OF: Partial<Record<Resource, string>> = {
  processes: ', raise the limit of processes (ulimit -u)',
  descriptors: ', raise the limit of open files (ulimit -n)',
};

/** What the gate saw, with the figure and the floor, and how to fix it. */
export function explainResources(hold: ResourceHold): { message: string; mend: string } {
  const setting = SETTING_OF[hold.what];
  if (hold.what === 'pace')
    return {
      message: `${hold.burst} workers were started in one go, and further ones are spaced; the next may start at ${new Date(hold.next_at).toISOString()}`,
      mend: `wait for it; ${setting} sets the spacing`,
    };
  if (hold.what === 'busy')
    return {
      message: `this machine is busy (${busyWords(hold.with)}), and workers are started one by one; the next may start at ${new Date(hold.next_at).toISOString()}`,
      mend: `wait for it; ${setting} sets from which load on`,
    };
  const started =
    hold.young === 1 ? '1 worker that just started is' : `${hold.young} workers that just started are`;
  const young = hold.young === 0 ? '' : ` after what ${started} expected to use`;
  const [free, floor] = figures(hold.what, hold.free, hold.floor);
  return {
    message: `${free}${young}, and new workers wait below ${floor}`,
    mend: `end what is not needed (\`svc ps\` lists the workers)${LIMIT_OF[hold.what] ?? ''}, or set ${setting} and run \`svc daemon restart\``,
  };
}

function busyWords(busy: Busy): string {
  return 'memory' in busy
    ? `processes waited for memory in ${Math.round(100 * busy.memory)} % of the last 10 seconds`
    : `load ${busy.load.toFixed(1)} on ${busy.cores === 1 ? '1 core' : `${busy.cores} cores`}, above ${busy.most}`;
}

function figures(what: Resource, free: number, floor: number): [string, string] {
  switch (what) {
    case 'memory':
      return [`${showBytes(free)} of memory is free`, showBytes(floor)];
    case 'workers_memory':
      return [`${showBytes(free)} of the memory that all workers may use is free`, showBytes(floor)];
    default:
      return [`the machine has room for ${free} ${NAMES[what]}`, String(floor)];
  }
}
