import { getHeapStatistics } from 'node:v8';
import { expect, it } from 'vitest';
import { createHeapRelease } from '../../src/threads/heap-release.ts';
import { until } from '../kit/until.ts';

const MIB = 1024 * 1024;
const heap = () => getHeapStatistics().total_heap_size;

it('the heap that a job left behind is given back soon after it', async () => {
  const jobBegins = createHeapRelease();
  const before = heap();
  jobBegins();
  const held = makeObjects();
  const during = heap();
  expect(during - before).toBeGreaterThan(64 * MIB);
  held.length = 0;
  await until('the heap', () => heap() < during - 48 * MIB, 5_000);
});

/** Objects that outlive a young generation. */
function makeObjects(): object[] {
  return Array.from({ length: 1_500_000 }, (_, index) => ({ index, text: `object ${index}` }));
}
