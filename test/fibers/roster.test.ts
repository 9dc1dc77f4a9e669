import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { documentEdit, newFiber } from '../../src/dispatch/requests/document-requests.ts';
import { requireRoster } from '../../src/fibers/roster.ts';
import { runVerb } from '../fixtures/fibers/run-verb.ts';
import { createTempStore, type TempStore } from '../fixtures/fibers/temp-store.ts';

describe('a roster', () => {
  it('[FIB-13] maps role slugs to collaborator slugs; an empty list keeps the role', () => {
    const roster = { reviewer: ['ada', 'grace-h'], editor: [] };
    expect(requireRoster(roster)).toEqual(roster);
  });

  it.each([
    [{ Reviewer: [] }],
    [{ 'the reviewer': [] }],
    [{ '': [] }],
    [{ reviewer: ['Ada Lovelace'] }],
    [{ reviewer: ['01k5a5zk4t9qk3zj8z8z8z8z8z'] }],
    [{ reviewer: ['0b0e9c4e-7c3e-4a8e-9b1a-0a1b2c3d4e5f'] }],
    [{ reviewer: ['ada', 'ada'] }],
    [{ reviewer: 'ada' }],
    [['reviewer']],
    [{ reviewer: ['../etc'] }],
  ])('[FIB-13] stores readable names only: not %j', (roster) => {
    expect(() => requireRoster(roster)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
  });

  it('[WPL-11] replaces the whole map in a separate edit', () => {
    const collaboration = { reviewer: ['ada'] };
    expect(documentEdit({ fiber_id: 'a', collaboration, origin: 'h', expected_digest: 'd' })).toEqual({
      set: { collaboration },
      unset: [],
    });
    expect(documentEdit({ fiber_id: 'a', collaboration: {} })).toEqual({ set: {}, unset: ['collaboration'] });
  });

  it.each([
    [{ body: 'x', collaboration: {} }],
    [{ status: 'open' as const, collaboration: {} }],
    [{ set: { due: 'x' }, collaboration: {} }],
    [{ unset: ['due'], collaboration: {} }],
    [{ set: { collaboration: {} } }],
    [{ set: { 'collaboration.editor': ['x y'] } }],
    [{ unset: ['collaboration'] }],
    [{ collaboration: { reviewer: ['Ada L'] } }],
  ])('[WPL-11] is not accepted as %j', (change) => {
    expect(() => documentEdit({ fiber_id: 'a', ...change })).toThrow(
      expect.objectContaining({ code: 'invalid_request' }),
    );
  });

  it('[FIB-13] is checked in a new fiber too', () => {
    expect(() => newFiber({ name: 'a', collaboration: { A: [] } }, undefined)).toThrow('readable name');
  });
});

describe('svc fiber edit --collaboration', () => {
  let temp: TempStore;
  beforeEach(async () => {
    temp = createTempStore();
    await temp.store.create({
      name: 'a',
      svc: { kind: 'oneshot', agent: 'pi' },
      collaboration: { editor: ['old'], lead: [] },
    });
  });
  afterEach(() => temp.remove());
  const run = (args: string[], stdin = '') =>
    runVerb(['fiber', 'edit', 'a', ...args], { env: { SVC_STORES: temp.root }, cwd: temp.root, stdin });

  it('[WPL-11] [FIB-13] replaces the roster in one write that changes nothing else, from an argument or standard input', async () => {
    const before = temp.store.read('a');
    expect(await run(['--collaboration', '{"reviewer":["ada"]}'])).toMatchObject({ code: 0 });
    const { collaboration, digest: _d, updated_at: _u, ...rest } = temp.store.read('a');
    expect(collaboration).toEqual({ reviewer: ['ada'] });
    expect(before).toMatchObject(rest);
    expect(await run(['--collaboration', '-'], '{"editor":[]}')).toMatchObject({ code: 0 });
    expect(temp.store.read('a').collaboration).toEqual({ editor: [] });
  });

  it.each([
    ['{"reviewer":["Ada L"]}', []],
    ['not json', []],
    ['{"reviewer":[]}', ['--status', 'closed']],
    ['{"reviewer":[]}', ['--body', 'x']],
  ])('[WPL-11] refuses %j with %j and writes nothing', async (json, more) => {
    const { digest } = temp.store.read('a');
    expect(await run(['--collaboration', json, ...more])).toMatchObject({ error: 'invalid_request' });
    expect(temp.store.read('a').digest).toBe(digest);
  });
});
