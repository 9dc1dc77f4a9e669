import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { createLogger } from '../../src/base/logger.ts';
import { MemoryBudget } from '../../src/http/memory-budget.ts';
import { OpenStreams } from '../../src/http/open-streams.ts';
import { loadTransport } from '../../src/http/transport-choice.ts';
import { UnsentAnswers } from '../../src/http/unsent-answers.ts';
import { ask } from './raw-exchange.ts';
import { getRow, json, serve } from './served.ts';

const streams = new OpenStreams(systemClock, 0);
const unsent = {
  ...{ read_ahead: new MemoryBudget(0), answers: new UnsentAnswers(0), streams, relays: streams },
  ...{ clock: systemClock, stall_ms: 0 },
};
const requests = {
  ...{ nextId: () => '1', unsent, settled: () => undefined, take: () => undefined },
  ...{ longest_message: 0, most_unsent: 0 },
};
const broken = () => Promise.reject(new Error('no binary for this machine'));

function options() {
  const lines: string[] = [];
  const logger = createLogger({
    component: 'http',
    level: 'warn',
    destination: { write: (line) => lines.push(line) },
  });
  return { lines, given: { requests, clock: systemClock, logger } };
}

describe('which server speaks HTTP', () => {
  it('is the native one by default, without a log line', async () => {
    const { lines, given } = options();
    expect((await loadTransport('auto', given)).kind).toBe('uws');
    expect(lines).toEqual([]);
  });

  it('is Node’s own if the native one cannot be loaded, and the log says why', async () => {
    const { lines, given } = options();
    expect((await loadTransport('auto', given, broken)).kind).toBe('node');
    expect(lines.join()).toContain('no binary for this machine');
  });

  it('is the requested one, or none', async () => {
    const { given } = options();
    expect((await loadTransport('node', given, broken)).kind).toBe('node');
    await expect(loadTransport('uws', given, broken)).rejects.toThrow('no binary');
  });

  it.each(['uws', 'node'] as const)('is named by the server: %s', async (http) => {
    const served = await serve([getRow('/ok', () => json('ok'))], { http });
    expect(served.server.kind()).toBe(http);
    expect((await ask(served, 'GET', '/ok')).body).toBe('"ok"');
    await served.server.stop();
  });
});
