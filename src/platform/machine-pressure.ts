import { readFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';

/** How much of this machine is asked for. Shares are from 0 to 1, of the last ten seconds. */
export type MachinePressure = {
  /** The load average of the last minute. */
  load: number;
  cores: number;
  /** How much of the time some process waited for a processor; null where the kernel does not tell. */
  waiting: number | null;
  /** How much of the time some process waited for memory; null where the kernel does not tell. */
  memory: number | null;
};

/** `texts`: of `/proc/pressure/cpu` and `/proc/pressure/memory`, null where there is none (kernel docs, accounting/psi). */
export function pressureOf(
  texts: { cpu: string | null; memory: string | null },
  { load, cores }: Pick<MachinePressure, 'load' | 'cores'>,
): MachinePressure {
  return { load, cores, waiting: someOf(texts.cpu), memory: someOf(texts.memory) };
}

export function readMachinePressure(platform: NodeJS.Platform): MachinePressure {
  const text = (of: string) => (platform === 'linux' ? textOf(`/proc/pressure/${of}`) : null);
  const [load = 0] = loadavg();
  return pressureOf({ cpu: text('cpu'), memory: text('memory') }, { load, cores: availableParallelism() });
}

function someOf(text: string | null): number | null {
  const percent = /^some avg10=(\d+\.\d+) /m.exec(text ?? '')?.[1];
  return percent === undefined ? null : Number(percent) / 100;
}

/** A kernel that was started without it has the file, and refuses to read it. */
function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
