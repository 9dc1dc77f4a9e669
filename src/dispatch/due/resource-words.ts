import { showBytes } from '../../contract/memory-max.ts';
import type { Resource, ResourceHold } from './start-gate.ts';

const NAMES: Record<Exclude<Resource, 'memory'>, string> = {
  processes: 'more processes',
  descriptors: 'more open files',
  terminals: 'more terminals',
};

/** The setting that moves the floor of each resource. */
const SETTING_OF: Record<Resource | 'pace', string> = {
  memory: 'SVC_FLOOR_MEMORY',
  processes: 'SVC_FLOOR_PROCESSES',
  descriptors: 'SVC_FLOOR_DESCRIPTORS',
  terminals: 'SVC_FLOOR_TERMINALS',
  pace: 'SVC_START_SPACING_MS',
};

/** What the gate saw, with the figure and the floor, and how to mend it. */
export function explainResources(hold: ResourceHold): { message: string; mend: string } {
  const setting = SETTING_OF[hold.what];
  if (hold.what === 'pace')
    return {
      message: `${hold.burst} workers were started in one go, and further ones are spaced; the next may start at ${new Date(hold.next_at).toISOString()}`,
      mend: `wait for it; ${setting} sets the spacing`,
    };
  const young = hold.young === 0 ? '' : ` beside what ${hold.young} young workers are expected to use`;
  const [free, floor] =
    hold.what === 'memory'
      ? [`${showBytes(hold.free)} of memory is free`, showBytes(hold.floor)]
      : [`the machine has room for ${hold.free} ${NAMES[hold.what]}`, String(hold.floor)];
  return {
    message: `${free}${young}, and new workers wait below ${floor}`,
    mend: `end what is not needed (\`svc ps\` lists the workers), or lower the floor with ${setting} and run \`svc daemon restart\``,
  };
}
