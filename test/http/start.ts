import { onTestFinished } from 'vitest';
import { getRow, json, type Served, serve } from './served.ts';

export const hello = getRow('/hello', () => json({ hello: 'world' }));

/** Serves rows on a free port until the test ends. */
export async function start(...given: Parameters<typeof serve>): Promise<Served> {
  const served = await serve(...given);
  onTestFinished(() => served.server.stop());
  return served;
}
