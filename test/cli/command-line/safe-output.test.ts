import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { withSafeOutput } from '../../../src/cli/command-line/safe-output.ts';
import { runCli } from '../../../src/cli/main.ts';
import { createMachine, type Machine } from '../kit.ts';

const HOSTILE = 'a\u001b]0;title\u0007\u009b2J\u202eb\u200bc\u007f';
const SHOWN = 'a\\u001b]0;title\\u0007\\u009b2J\\u202eb\\u200bc\\u007f';
const RAW = /[\u001b\u0007\u009b\u202e\u200b\u007f]/;

let machine: Machine;

beforeEach(() => {
  machine = createMachine();
  const folder = join(machine.folder, '.fibers', 'odd');
  mkdirSync(folder, { recursive: true });
  const front = JSON.stringify({ name: HOSTILE, outcome: HOSTILE, tags: [HOSTILE], svc: { agent: HOSTILE } });
  writeFileSync(join(folder, 'odd.md'), `---\n${front}\n---\n${HOSTILE}\n`);
  machine.env.SVC_STORES = machine.folder;
});
afterEach(() => machine.remove());

describe('stored text', () => {
  it.each([
    [['fiber', 'show', 'odd']],
    [['fiber', 'ls']],
    [['fiber', 'check']],
    [['fiber', 'show', HOSTILE]],
    [['completion', 'fibers', HOSTILE]],
  ])('reaches a terminal only with its hidden characters escaped: svc %j', async (argv) => {
    const { out, err } = await machine.svc(...argv);
    expect(out + err).not.toMatch(RAW);
  });

  it('is shown completely to a person', async () => {
    const { out } = await machine.svc('fiber', 'show', 'odd');
    expect(out).toContain(`name      ${SHOWN}\n`);
    expect(out).toContain(`\n${SHOWN}\n`);
    expect((await machine.svc('fiber', 'ls')).out).toContain(SHOWN);
  });

  it('is JSON of the same value with --json, in an error too', async () => {
    const { out } = await machine.svc('fiber', 'show', 'odd', '--json');
    expect(out).not.toMatch(RAW);
    expect(JSON.parse(out).fiber).toMatchObject({ name: HOSTILE, body: `${HOSTILE}\n` });
    const { err } = await machine.svc('fiber', 'show', HOSTILE, '--json');
    expect(err).not.toMatch(RAW);
    expect(JSON.parse(err).message).toContain(HOSTILE);
  });

  it('goes to a file byte for byte with --body-only, and escaped to a terminal', async () => {
    const argv = ['fiber', 'show', 'odd', '--body-only'];
    expect((await machine.svc(...argv)).out).toBe(`${HOSTILE}\n`);
    const said: string[] = [];
    const out = (text: string) => void said.push(text);
    await runCli(argv, { ...machine.context, outIsTerminal: true, out });
    expect(said.join('')).toBe(`${SHOWN}\n`);
  });
});

describe('an error on a terminal', () => {
  const refusal = async (err_columns?: number) => {
    let said = '';
    const err = (text: string) => {
      said += text;
    };
    const process = { ...machine.context, err, ...(err_columns === undefined ? {} : { err_columns }) };
    await runCli(['status'], process);
    return said;
  };

  it('is broken between its words, and a command in it stays whole', async () => {
    expect(await refusal(45)).toBe('svc: the daemon does not run; start it with:\n  svc daemon start\n');
  });

  it('is one line anywhere else', async () => {
    expect(await refusal()).toBe('svc: the daemon does not run; start it with: svc daemon start\n');
  });
});

it.each([
  ['another width', { columns: 40, rows: 24 }, 0],
  ['another height', { columns: 80, rows: 12 }, 0],
  ['a stop of the process, during which a shell wrote to it', { columns: 80, rows: 24 }, 1],
])('a page is to be drawn again after %s', (_, size_after, resumes_after) => {
  let [size, resumes] = [{ columns: 80, rows: 24 }, 0];
  const { terminal } = withSafeOutput({
    ...machine.context,
    outIsTerminal: true,
    size: () => size,
    resumes: () => resumes,
  });
  terminal!.draw(['a page']);
  expect(terminal!.isStale()).toBe(false);
  [size, resumes] = [size_after, resumes_after];
  expect(terminal!.isStale()).toBe(true);
  terminal!.draw(['a page']);
  expect(terminal!.isStale()).toBe(false);
});
