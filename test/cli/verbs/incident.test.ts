import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Incident } from '../../../src/contract/http/incidents.ts';
import { rehearsal, stepOf } from '../../../src/contract/http/rehearsal.ts';
import { stateAnswer } from '../answers.ts';
import { type Answers, createMachine, type Machine, type StandIn, serveAnswers } from '../kit.ts';

const INCIDENT: Incident = {
  id: 'i1',
  cause: 'server_lost',
  at: Date.now() - 120_000,
  fibers: [
    {
      fiber_id: 'work/loader',
      uid: '01K2B3C4D5E6F7G8H9J0K1M2N3',
      store: '/srv/notes',
      run_id: 'r1',
      mux_session: 'loader-x-svc',
      session_uuid: null,
      lost_at: 1,
      refused: 'no folder',
    },
  ],
};
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

async function serve(answers: Answers): Promise<StandIn> {
  daemon = await serveAnswers(answers);
  machine.writeDaemonFile([daemon.listen]);
  return daemon;
}

describe('svc incident', () => {
  it('[P2] lists what was ended, why a start was refused, and how to resume', async () => {
    await serve({ 'GET /state': { body: stateAnswer({ incidents: [INCIDENT] }) } });
    const { code, out } = await machine.svc('incident');
    expect(code).toBe(0);
    expect(out).toContain('i1: the tmux server is gone, 2 min ago');
    expect(out).toMatch(/work\/loader\s+loader-x-svc\s+no folder/);
    expect(out).toContain('svc incident resume i1');
    expect(JSON.parse((await machine.svc('incident', '--json')).out)).toEqual({ incidents: [INCIDENT] });
  });

  it('[P2] shows on a terminal some of many fibers, those first that were refused, and all of them with --all', async () => {
    const [refused] = INCIDENT.fibers;
    const others = Array.from({ length: 300 }, (_, n) => ({
      ...refused!,
      fiber_id: `task-${n}`,
      refused: null,
    }));
    const incidents = [{ ...INCIDENT, fibers: [...others, refused!] }];
    await serve({ 'GET /state': { body: stateAnswer({ incidents }) } });
    const shown = async (...argv: string[]) =>
      (await machine.svc('incident', ...argv)).out
        .split('\n')
        .filter((line) => /^(task|work|and)/.test(line));
    expect(await shown()).toHaveLength(301);
    machine.context.outIsTerminal = true;
    machine.context.columns = 80;
    expect(await shown('--all')).toHaveLength(301);
    const few = await shown();
    expect(few).toHaveLength(11);
    expect(few[0]).toMatch(/^work\/loader .* no folder$/);
    expect(few[10]).toBe('and 291 more: svc incident --all');
  });

  it('[P2] resumes one or all, and exits 1 when a fiber was refused', async () => {
    const outcome = (name: string, message: string | null = null) => ({
      fibers: [{ fiber_id: 'work/loader', outcome: name, message }],
      incidents: [],
    });
    let answer = outcome('started');
    const { seen } = await serve({ 'POST /incidents/resume': () => answer });
    expect(await machine.svc('incident', 'resume', 'i1')).toMatchObject({
      code: 0,
      out: 'started  work/loader\n',
    });
    answer = outcome('refused', 'no folder');
    expect(await machine.svc('incident', 'resume', '--all')).toMatchObject({
      code: 1,
      out: 'refused  work/loader: no folder\n',
    });
    const { fibers, ...rest } = outcome('started');
    const queued = ['b', 'c'].map((fiber_id) => ({ fiber_id, outcome: 'queued', message: null }));
    answer = { ...rest, fibers: [...fibers, ...queued] };
    expect(await machine.svc('incident', 'resume', '--all')).toMatchObject({
      code: 0,
      out: 'started  work/loader\nThe daemon starts 2 more, one after the other. Those that still wait: svc incident\n',
    });
    answer = outcome('refused', 'no folder');
    const json = await machine.svc('incident', 'resume', '--all', '--json');
    expect([json.code, JSON.parse(json.out)]).toEqual([1, answer]);
    expect(seen.map(({ body }) => body)).toEqual([{ id: 'i1' }, {}, {}, {}]);
  });

  it('[P2] dismisses, and says when there is nothing to dismiss', async () => {
    const { seen } = await serve({
      'POST /incidents/dismiss': { body: { fibers: [], incidents: [] } },
    });
    expect(await machine.svc('incident', 'dismiss', '--all')).toMatchObject({
      code: 0,
      out: 'No incident.\n',
    });
    expect(seen).toEqual([{ path: '/incidents/dismiss', body: {} }]);
  });

  it.each(['resume', 'dismiss'])('%s shows with --dry-run what it would do, step by step', async (verb) => {
    const steps = [rehearsal('start claude for work/loader', { ends: ['x'] }), rehearsal('drop b')];
    const { seen } = await serve({
      [`POST /incidents/${verb}`]: { body: rehearsal('start both', { steps: steps.map(stepOf) }) },
    });
    const { code, out } = await machine.svc('incident', verb, 'i1', '--dry-run');
    expect(code).toBe(0);
    expect(out).toBe(
      'Would start both. Nothing was written or started.\n\n1. Start claude for work/loader\n\nEnds      x\n\n2. Drop b\n',
    );
    expect(seen).toEqual([{ path: `/incidents/${verb}`, body: { id: 'i1', dry_run: true } }]);
  });

  it.each([
    ['neither', []],
    ['both', ['i1', '--all']],
  ])('calls %s of an id and --all a usage error that names the fix', async (_, more) => {
    const { code, out, err } = await machine.svc('incident', 'resume', ...more);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toBe('svc: name one incident, or give --all; `svc incident` lists them\n');
  });
});

it('[P5] [WPL-4] a second kill says that the worker was stopped already', async () => {
  const killed = { killed: true, fiber_id: 'a', mux_session: 'a-svc' };
  let answer: object = killed;
  await serve({ 'POST /kill': () => answer });
  expect(await machine.svc('kill', 'a', '--yes')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^Stopped a\.\n/),
  });
  answer = { ...killed, already_killed: true };
  expect(await machine.svc('kill', 'a', '--yes')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^Stopped already, nothing runs for a\.\n/),
  });
  expect(JSON.parse((await machine.svc('kill', 'a', '--json', '--yes')).out)).toEqual(answer);
});
