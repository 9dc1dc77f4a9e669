import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { spawnPiped } from '../../src/platform/piped-process.ts';
import { createRunner, type ProcessResult } from '../../src/platform/process.ts';
import {
  createProcessFacts,
  descendantsIn,
  isAlive,
  judgeLife,
  lookUpProcess,
  type ProcessRow,
  parseProcStat,
  parsePsRows,
  processStartTime,
  processState,
} from '../../src/platform/process-facts.ts';
import { until } from '../fixtures/mux/private-server.ts';

const row = (pid: number, parent: number): ProcessRow => ({
  pid,
  parent,
  session: 1,
  state: 'S',
  start_time: '9',
});

describe('reading /proc', () => {
  it('parses a name with parentheses and spaces', () => {
    const rest = 'S 10 20 30 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 998877 0 0';
    expect(parseProcStat(`77 (a) b) (c) ${rest}\n`)).toEqual({
      pid: 77,
      state: 'S',
      parent: 10,
      session: 30,
      start_time: '998877',
    });
    expect(parseProcStat('')).toBeNull();
    expect(parseProcStat('77 (a) S 1 2')).toBeNull();
  });

  it('finds this process and no process with an invalid pid', () => {
    const found = lookUpProcess(process.pid);
    expect(found).toMatchObject({ kind: 'found', row: { pid: process.pid, parent: process.ppid } });
    expect(processStartTime(process.pid)).toMatch(/^\d+$/);
    expect(processState(process.pid)).toMatch(/^[RS]$/);
    for (const pid of [0, 1, -1, 1.5, Number.NaN, 2 ** 31])
      expect(lookUpProcess(pid)).toEqual({ kind: 'gone' });
    expect(processStartTime(0)).toBeNull();
  });
});

describe('whether a process lives', () => {
  it.each([
    ['S', '9', 'alive'],
    ['D', '9', 'alive'],
    ['T', '9', 'alive'],
    ['Z', '9', 'gone'],
    ['X', '9', 'gone'],
    ['S', '10', 'gone'],
  ])('in state %s with start time %s it is %s', (state, start_time, life) => {
    const found = { kind: 'found' as const, row: { ...row(7, 1), state, start_time } };
    expect(judgeLife({ pid: 7, start_time: '9' }, found)).toBe(life);
  });

  it('is unknown if the kernel does not answer', () => {
    expect(judgeLife({ pid: 7, start_time: '9' }, { kind: 'unknown' })).toBe('unknown');
    expect(judgeLife({ pid: 7, start_time: '9' }, { kind: 'gone' })).toBe('gone');
  });

  it('a real zombie counts as gone', async () => {
    // The outer shell becomes a program that never asks for its child's end.
    const parent = spawnPiped({ file: 'sh', args: ['-c', 'sleep 0 & exec sleep 60'] });
    const facts = createProcessFacts({ platform: 'linux', runner: createRunner() });
    const zombie = await until('a zombie', async () =>
      descendantsIn((await facts.table()) ?? [], parent.pid!).find((child) => child.state === 'Z'),
    );
    expect(await isAlive(facts, zombie)).toBe('gone');
    parent.kill();
  });
});

it('finds descendants, and stops at a cycle', () => {
  const table = [row(2, 1), row(3, 2), row(4, 2), row(5, 3), row(6, 1), row(8, 9), row(9, 8)];
  expect(descendantsIn(table, 2).map(({ pid }) => pid)).toEqual([3, 4, 5]);
  expect(descendantsIn(table, 8).map(({ pid }) => pid)).toEqual([9]);
});

describe('reading ps, as on macOS', () => {
  const answers = (result: ProcessResult) =>
    createProcessFacts({
      platform: 'darwin',
      runner: { run: async () => result, spawnPiped },
    });
  const said = (stdout: string, code = 0, stderr = ''): ProcessResult => ({
    kind: 'exited',
    code,
    stdout,
    stderr,
  });

  it('reads rows with a start date', async () => {
    const text = '  501     1 Ss   Mon Jan  5 09:00:00 2026    \n  502   501 Z+   Mon Jan 15 09:00:00 2026\n';
    expect(parsePsRows(text)).toEqual([
      { pid: 501, parent: 1, session: null, state: 'S', start_time: 'Mon Jan 5 09:00:00 2026' },
      { pid: 502, parent: 501, session: null, state: 'Z', start_time: 'Mon Jan 15 09:00:00 2026' },
    ]);
    const facts = answers(said(text));
    expect(await isAlive(facts, { pid: 501, start_time: 'Mon Jan 5 09:00:00 2026' })).toBe('alive');
    expect(await isAlive(facts, { pid: 501, start_time: 'Mon Jan 6 09:00:00 2026' })).toBe('gone');
    expect(await isAlive(facts, { pid: 502, start_time: 'Mon Jan 15 09:00:00 2026' })).toBe('gone');
  });

  it.each<[string, ProcessResult, string]>([
    ['an empty answer', said('', 1), 'gone'],
    ['a complaint', said('', 1, 'ps: cannot\n'), 'unknown'],
    ['silence', { kind: 'timed_out' }, 'unknown'],
    ['no ps', { kind: 'not_started', code: 'ENOENT' }, 'unknown'],
  ])('classifies %s', async (_what, result, life) => {
    expect(await isAlive(answers(result), { pid: 501, start_time: 'x' })).toBe(life);
  });

  it.runIf(existsSync('/bin/ps'))('agrees with /proc about a real process, using the real ps', async () => {
    const facts = createProcessFacts({ platform: 'darwin', runner: createRunner() });
    const found = await facts.lookUp(process.pid);
    expect(found).toMatchObject({ kind: 'found', row: { pid: process.pid, parent: process.ppid } });
    expect((await facts.table())?.length).toBeGreaterThan(2);
    expect(await facts.lookUp(2 ** 22 + 5)).toEqual({ kind: 'gone' });
  });
});
