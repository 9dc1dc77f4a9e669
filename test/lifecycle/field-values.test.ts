import { describe, expect, it } from 'vitest';
import type { KnownAgents } from '../../src/lifecycle/agent-verbs.ts';
import { requireFieldValues } from '../../src/lifecycle/field-values.ts';

const KNOWN: KnownAgents = { agents: [], names: {}, default_id: null, problem: null };

describe('the values that a write of fields sets', () => {
  it.each([
    [{ due: 'soon' }, 'is not a day'],
    [{ 'svc.schedule': 'bogus' }, 'is not a cron schedule'],
    [{ 'svc.tz': 'Mars/Base' }, 'is not a time zone'],
    [{ 'svc.agent': 'nobody' }, 'there is no agent'],
    [{ svc: { schedule: 'bogus' } }, 'is not a cron schedule'],
    [{ svc: { tz: 'Mars/Base' } }, 'is not a time zone'],
    [{ svc: { agent: 'nobody' } }, 'there is no agent'],
  ])('[FIB-7] %j is refused: it %s', (set, message) =>
    expect(() => requireFieldValues(set, KNOWN)).toThrow(message),
  );

  it('are not judged where they are not set, or the agents of the host are not known', () => {
    expect(() => requireFieldValues({ name: 'x', svc: null }, KNOWN)).not.toThrow();
    expect(() => requireFieldValues({ 'svc.agent': 'nobody' }, null)).not.toThrow();
  });
});
