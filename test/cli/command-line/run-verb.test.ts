import { existsSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { CodedError } from '../../../src/base/errors.ts';
import { runVerb } from '../../../src/cli/command-line/run-verb.ts';
import { defineVerb } from '../../../src/cli/command-line/verb.ts';
import { FOR_PROGRAMS, rowsOf, summaryOf, type VerbTable } from '../../../src/cli/command-line/verb-table.ts';
import { VERBS } from '../../../src/cli/verbs.ts';
import { createMachine, type Machine } from '../kit.ts';

const rows = rowsOf(VERBS);
let machine: Machine;
beforeEach(() => {
  machine = createMachine();
});
afterEach(() => machine.remove());

describe('svc', () => {
  it('lists every verb once, in its help', async () => {
    const { code, out } = await machine.svc('help');
    expect(code).toBe(0);
    for (const { name, group, entry } of rows) {
      const summary = await summaryOf(entry);
      expect(
        out.split('\n').filter((line) => line.trim().startsWith(`${name} `) && line.endsWith(summary)),
      ).toHaveLength(group === FOR_PROGRAMS ? 0 : 1);
    }
    for (const group of Object.keys(VERBS).filter((one) => one !== FOR_PROGRAMS))
      expect(out).toContain(`\n${group}:\n`);
    expect(out).not.toContain(FOR_PROGRAMS);
  });

  it('names a page in its help that is there, from which all others are found', async () => {
    const { out } = await machine.svc('help');
    const page = /All pages for operators:\s+(\S+)/.exec(out)?.[1] ?? '';
    expect(page).toMatch(/\/ops\/README\.md$/);
    expect(existsSync(page)).toBe(true);
  });

  it('without a verb, shows a new user how to begin, in 80 columns', async () => {
    const { code, out, err } = await machine.svc();
    expect({ code, err }).toEqual({ code: 0, err: '' });
    for (const line of out.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    for (const [, name] of out.matchAll(/svc ([a-z]+)/g))
      expect([...rows.map(({ name }) => name), 'help', 'supervises']).toContain(name);
  });

  it('shows the options of one verb', async () => {
    expect((await machine.svc('help', 'dispatch')).out).toContain('--project-dir');
    expect((await machine.svc('dispatch', '--help')).out).toContain('--project-dir');
  });

  it.each([
    [['dispach'], "unknown command 'dispach'. Did you mean dispatch?"],
    [['dispach', '--help'], "unknown command 'dispach'. Did you mean dispatch?"],
    [['help', 'dispach'], "unknown command 'dispach'. Did you mean dispatch?"],
    [['quartz'], "unknown command 'quartz'; svc help lists them"],
    [['daemon', 'statsu', '-h'], "unknown command 'daemon statsu'. Did you mean daemon status?"],
    [['help', 'fiber', 'ad'], "unknown command 'fiber ad'. Did you mean fiber add?"],
    [['agents', 'quartz'], "unknown command 'agents quartz'; svc agents takes: add, effort, init"],
  ])('calls %j a usage error, and names what was meant', async (argv, message) => {
    expect(await machine.svc(...argv)).toEqual({ code: 2, out: '', err: `svc: ${message}\n` });
    const { code, err } = await machine.svc(...argv, '--json');
    expect([code, JSON.parse(err)]).toEqual([2, { error: 'invalid_request', message }]);
  });

  it('shows how a subcommand is used, and names that help in an error', async () => {
    expect((await machine.svc('help', 'fiber', 'add')).out).toMatch(/^Usage: svc fiber add /);
    expect((await machine.svc('fiber', 'add')).err).toBe(
      "svc: missing required argument 'name'\n(svc help fiber add shows how it is used)\n",
    );
  });

  it('names commands as they are typed on the demo', async () => {
    const dir = `${machine.folder}/demo one`;
    const demo = `svc demo --dir '${dir}'`;
    expect((await machine.svc('demo', '--dir', dir, 'status')).err).toBe(
      `svc: the daemon does not run; start the demo with: ${demo}\n`,
    );
    expect((await machine.svc('demo', '--dir', dir, 'quartz')).err).toBe(
      `svc: unknown command 'quartz'; ${demo} help lists them\n`,
    );
    expect((await machine.svc('demo', '--dir', dir, 'kill')).err).toContain(`(${demo} help kill shows`);
  });

  it.each([
    [['dispatch']],
    [['ps', '--colour']],
    [['daemon']],
    [['daemon', 'fly']],
    [['daemon', 'logs', '-n', 'many']],
    [['kill', 'a', 'b']],
  ])('calls %j a usage error', async (argv) => {
    const { code, out, err } = await machine.svc(...argv);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).not.toBe('');
  });

  it('names a setting with an invalid value', async () => {
    machine.env.SVC_POLL_INTERVAL_MS = 'soon';
    const { code, err } = await machine.svc('ps');
    expect(code).toBe(1);
    expect(err).toBe('svc: SVC_POLL_INTERVAL_MS is "soon"; it takes a whole number of at least 50\n');
  });

  /** The context with what was said on each stream, in order. */
  const recorded = () => {
    const said: string[] = [];
    const out = (text: string) => void said.push(`out: ${text}`);
    const err = (text: string) => void said.push(`err: ${text}`);
    return { said, context: { ...machine.context, out, err } };
  };

  const failing = (error: unknown): VerbTable => ({
    Tasks: {
      fail: async () =>
        defineVerb({
          summary: 'Fails',
          examples: [],
          json: z.null(),
          run() {
            throw error;
          },
        }),
    },
  });

  it('prints a refusal as one sentence, and as JSON with --json', async () => {
    const error = new CodedError('locked', 'the fiber is being written', { details: { holder: 7 } });
    const plain = recorded();
    expect(await runVerb(['fail'], plain.context, failing(error))).toBe(1);
    expect(plain.said).toEqual(['err: svc: the fiber is being written\n']);
    const json = recorded();
    expect(await runVerb(['fail', '--json'], json.context, failing(error))).toBe(1);
    expect(json.said).toHaveLength(1);
    expect(JSON.parse(json.said[0]!.replace('err: ', ''))).toEqual({
      error: 'locked',
      message: 'the fiber is being written',
      holder: 7,
    });
  });

  it('exits with 1 on an internal error and shows the stack only when debugging', async () => {
    const quiet = recorded();
    const mistake = failing(new TypeError('x is not a function'));
    expect(await runVerb(['fail'], quiet.context, mistake)).toBe(1);
    expect(quiet.said).toEqual(['err: svc: x is not a function\n']);
    machine.env.SVC_LOG_LEVEL = 'debug';
    const debugging = recorded();
    await runVerb(['fail'], debugging.context, mistake);
    expect(debugging.said.join('')).toContain('    at ');
  });
});
