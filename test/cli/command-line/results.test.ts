import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readCommands } from '../../../src/cli/command-line/command-table.ts';
import { shapeText } from '../../../src/cli/command-line/shape-text.ts';
import { VERBS } from '../../../src/cli/verbs.ts';
import { rehearsal, rehearsalSchema } from '../../../src/contract/http/rehearsal.ts';
import { runningRow, stateAnswer, versionAnswer } from '../answers.ts';
import { createMachine, type Machine, type StandIn, serveAnswers } from '../kit.ts';

const commands = new Map((await readCommands(VERBS)).map(({ path, verb }) => [path.join(' '), verb]));
let machine: Machine;
let daemon: StandIn | undefined;
beforeEach(() => {
  machine = createMachine();
});
afterEach(async () => {
  await daemon?.close();
  daemon = undefined;
  machine.remove();
});

describe('the shapes of the page', () => {
  it('are written as TypeScript types', () => {
    const named = z.object({ a: z.string() });
    const schema = z.object({
      b: z.array(named),
      c: z.union([z.literal(1), z.null()]).optional(),
      d: z.record(z.string(), z.array(z.enum(['x', 'y']))),
      e: z.number().nullable(),
    });
    expect(shapeText(schema, new Map([[named, 'Named']]))).toBe(
      '{ b: Named[]; c?: 1 | null; d: { [name: string]: ("x" | "y")[] }; e: number | null }',
    );
    expect(shapeText(z.looseObject({ a: z.unknown() }), new Map())).toBe('{ a: unknown; … }');
  });
});

describe('the actual output', () => {
  /** Runs a command with `--json` and holds its answer against the shape: nothing missing, nothing untold. */
  async function holds(name: string, ...more: string[]): Promise<void> {
    const { code, out, err } = await machine.svc(...name.split(' '), ...more, '--json');
    expect([name, code, err]).toEqual([name, 0, '']);
    const answer: unknown = JSON.parse(out);
    const shape = more.includes('--dry-run') ? rehearsalSchema : commands.get(name)!.json!;
    expect(shape.parse(answer), name).toEqual(answer);
  }

  it('of the verbs that work on a store has the documented shape', async () => {
    const store = join(machine.folder, 'notes');
    mkdirSync(join(machine.folder, 'dev'));
    Object.assign(machine.env, { SVC_STORES: store, SVC_HOST: 'host-a' });
    await holds('fiber init', store);
    await holds('fiber add', 'Loader', '--dry-run');
    await holds('fiber add', 'Loader');
    await holds('fiber add', 'Work');
    await holds('fiber edit', 'loader', '--outcome', 'Fine', '--tag', 'x');
    await holds('fiber show', 'loader');
    await holds('fiber ls');
    await holds('fiber check');
    await holds('fiber nest', 'loader', '--under', 'work', '--dry-run');
    await holds('fiber nest', 'loader', '--under', 'work');
    await holds('install', 'loader', '--project-dir', 'dev', '--dry-run');
    await holds('install', 'loader', '--project-dir', 'dev');
    await holds('set-outcome', 'loader', 'Better');
    await holds('pause', 'loader');
    await holds('close', 'loader');
    await holds('accept', 'loader');
    await holds('uninstall', 'loader', '--yes');
    await holds('fiber rm', 'loader', '--yes');
    await holds('host');
    await holds('agents');
    await holds('agents effort', 'codex', 'low', '--dry-run');
    await holds('agents effort', 'codex', 'low');
    await holds('resolve-dir', 'dev');
    await holds('daemon settings');
  });

  it('of the verbs that ask the daemon has the documented shape', async () => {
    daemon = await serveAnswers({
      'GET /version': { body: versionAnswer() },
      'GET /state': { body: stateAnswer({ running: [runningRow()] }) },
      'GET /fibers': { body: { fibers: [] } },
      'POST /kill': { body: { killed: true, already_killed: true, fiber_id: 'a', mux_session: 'a-svc' } },
      'POST /capture': { body: rehearsal('start it') },
      'POST /claim': { body: rehearsal('claim it') },
      'POST /incidents/dismiss': { body: { fibers: [], incidents: [] } },
      'POST /quarantine/release': { body: { released: true, pending: 0, fibers: [], held: [] } },
    });
    machine.writeDaemonFile([daemon.listen]);
    await holds('status');
    await holds('daemon status');
    await holds('ps');
    await holds('incident');
    await holds('incident dismiss', '--all');
    await holds('kill', 'a', '--yes');
    await holds('daemon release');
    await holds('capture', 'x', '--project-dir', '.', '--dry-run');
    expect(daemon.seen.at(-1)?.body).toMatchObject({ prompt: 'x', dry_run: true });
    machine.env.SVC_STORES = join(machine.folder, 'notes');
    await machine.svc('fiber', 'init', machine.env.SVC_STORES);
    await machine.svc('fiber', 'add', 'A');
    await holds('claim', 'a', '--mux-session', 'm', '--dry-run');
    expect(daemon.seen.at(-1)?.body).toMatchObject({ mux_session: 'm', dry_run: true });
  });
});

describe('an invalid value', () => {
  it.each([
    ['fiber', 'add', ' '],
    ['fiber', 'add', 'x', '--status', 'done'],
    ['fiber', 'edit', 'a', '--set', 'novalue'],
    ['fiber', 'edit', 'a'],
    ['fiber', 'nest', 'a'],
    ['install', 'a', '--surface', 'paper'],
    ['repeat', 'a', '--schedule', 'often', '--project-dir', '.'],
    ['repeat', 'a', '--schedule', '0 9 * * *', '--tz', 'Moon/Base', '--project-dir', '.'],
    ['claim', 'a', '--surface', 'paper'],
    ['capture', 'x', '--project-dir', '.', '--surface', 'paper'],
    ['agents', 'effort', 'codex'],
    ['attach'],
    ['incident', 'resume'],
  ])('is a usage error that names the fix: svc %s %s', async (...argv) => {
    const store = join(machine.folder, 'notes');
    machine.env.SVC_STORES = store;
    await machine.svc('fiber', 'init', store);
    await machine.svc('fiber', 'add', 'A');
    const { code, out, err } = await machine.svc(...argv);
    expect({ code, out, err }).toEqual({
      code: 2,
      out: '',
      err: expect.stringMatching(/it takes|give|name|write|see|such as|lists/),
    });
  });
});
