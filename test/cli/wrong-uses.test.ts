import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stateAnswer, versionAnswer } from './answers.ts';
import { createMachine, type Machine, type StandIn, serveAnswers } from './kit.ts';

/**
 * Command lines as people mistype them, with what `svc` answers: the exit code and the whole message. The file is read by
 * a person: each message says what is wrong, and what to type instead. A changed message is put there by hand.
 */
const FIXTURE = new URL('fixtures/wrong-uses.txt', import.meta.url);
const LEAST_CASES = 60;

type Case = { line: string; code: number; said: string };

function readCases(text: string): Case[] {
  return text
    .split(/^\$ /m)
    .slice(1)
    .map((block) => {
      const [line = '', ...rest] = block.trimEnd().split('\n');
      const code = Number(/^exit (\d)$/.exec(rest.pop() ?? '')?.[1]);
      return { line, code, said: rest.join('\n') };
    });
}

/** The words of a line as a shell splits them; quotes keep blanks. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain ?? '',
  );
}

const cases = readCases(readFileSync(FIXTURE, 'utf8'));

describe('a wrong use of svc', () => {
  let machine: Machine;
  let daemon: StandIn;

  beforeAll(async () => {
    machine = createMachine();
    const store = join(machine.folder, 'notes');
    mkdirSync(join(machine.folder, 'dev'));
    Object.assign(machine.env, { SVC_STORES: store, SVC_HOST: 'host-a' });
    writeFileSync(
      join(machine.config_dir, 'agents.json'),
      JSON.stringify({
        version: 1,
        builtins: 'restrict',
        agents: ['own', 'other'].map((id) => ({
          ...{ id, harness: 'claude', cli: process.execPath, args: [], effort_levels: ['low', 'high'] },
          default: id === 'own',
        })),
      }),
    );
    await machine.svc('fiber', 'init', store);
    for (const name of ['Release notes', 'Parser', 'Parser tests']) await machine.svc('fiber', 'add', name);
    await machine.svc('close', 'parser');
    const fibers = ['release-notes', 'parser', 'parser-tests'].map((id) => ({ id, uid: null }));
    const missing = { status: 404, body: { error: 'fiber_not_found', message: 'no such fiber' } };
    daemon = await serveAnswers({
      'GET /state': { body: stateAnswer() },
      'GET /version': { body: versionAnswer() },
      'GET /fibers/composite': { body: { host: 'host-a', origins: { 'host-a': { read: { fibers } } } } },
      ...Object.fromEntries(
        ['release-nots', 'quartz', 'pars'].flatMap((id) => [
          [`GET /fibers/${id}`, missing],
          [`GET /why?fiber=${id}&look=1`, missing],
        ]),
      ),
      'GET /fibers/parser': { body: {} },
      'POST /dispatch': missing,
      'POST /kill': missing,
    });
  });
  afterAll(async () => {
    await daemon.close();
    machine.remove();
  });

  const answer = async (line: string): Promise<Case> => {
    const withDaemon = line.startsWith('@ ');
    if (withDaemon) machine.writeDaemonFile([daemon.listen]);
    else machine.writeDaemonFile([daemon.listen], { pid: 2 ** 22 - 1, start_time: '1' });
    const [, ...argv] = wordsOf(withDaemon ? line.slice(2) : line);
    const { code, out, err } = await machine.svc(...argv);
    const said = err.replaceAll(machine.folder, '~').trimEnd();
    return { line, code, said: out === '' ? said : `${said}\n(stdout) ${out.trimEnd()}` };
  };

  it('is one of at least sixty', () => {
    expect(new Set(cases.map(({ line }) => line)).size).toBeGreaterThanOrEqual(LEAST_CASES);
  });

  it.each(cases)('$line', async (expected) => {
    expect(await answer(expected.line)).toEqual(expected);
  });

  it('is refused in at most three lines, none of which speaks of a clause or a stack', () => {
    for (const { line, code, said } of cases) {
      expect(code, line).toBeGreaterThan(0);
      expect(said.split('\n').length, line).toBeLessThanOrEqual(3);
      expect(said, line).toMatch(/^svc: \S/);
      expect(said, line).not.toMatch(/\[[A-Z]{3}-\d|\n {4}at |undefined|\[object/);
    }
  });
});
