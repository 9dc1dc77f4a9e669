import { describe, expect, it } from 'vitest';
import { pressureOf, readMachinePressure } from '../../src/platform/machine-pressure.ts';

const OF = { load: 3.5, cores: 4 };
const psi = (some: string) =>
  `some avg10=${some} avg60=12.00 avg300=1.00 total=1\nfull avg10=99.00 avg60=0.00 avg300=0.00 total=0\n`;

describe('the pressure on a machine', () => {
  it.each([
    ['what the kernel tells of the last 10 seconds', psi('37.50'), psi('0.00'), 0.375, 0],
    ['nothing without its files', null, null, null, null],
    ['nothing of a text that is none of theirs', 'some avg60=1.00', '', null, null],
  ])('is %s', (_what, cpu, memory, waiting, stalled) => {
    expect(pressureOf({ cpu, memory }, OF)).toEqual({ ...OF, waiting, memory: stalled });
  });

  it('is read of this machine', () => {
    const { load, cores, waiting } = readMachinePressure(process.platform);
    expect(cores).toBeGreaterThan(0);
    expect(load).toBeGreaterThanOrEqual(0);
    if (waiting !== null) expect(waiting).toBeLessThanOrEqual(1);
  });

  it('has the load alone on a system without such files', () => {
    expect(readMachinePressure('darwin')).toMatchObject({ waiting: null, memory: null });
  });
});
