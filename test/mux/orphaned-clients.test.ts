import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CONTROL_FLAGS, daemonClientPids, endOrphans } from '../../src/mux/orphaned-clients.ts';
import { ANCHOR_COMMAND } from '../../src/mux/server-start.ts';
import { ANCHOR_SESSION } from '../../src/mux/session-name.ts';
import { isEndedState, lookUpProcess, type ProcessLookup } from '../../src/platform/process-facts.ts';
import { createPrivateServer, type PrivateServer, until } from '../fixtures/mux/private-server.ts';

let server: PrivateServer;
beforeEach(() => {
  server = createPrivateServer();
});
afterEach(() => server.dispose());

/** Attaches a control client as a daemon does, asks it for more than a pipe holds, and reads nothing; says when all is taken. */
const DAEMON = `
const { spawn } = require('node:child_process');
const [tmux, ...args] = process.argv.slice(1);
const client = spawn(tmux, args, { stdio: ['pipe', 'pipe', 'ignore'] });
process.stdout.write(client.pid + '\\n');
process.stdin.once('data', () => {
  for (let nth = 0; nth < 20_000; nth += 1) client.stdin.write("list-panes -a -F '" + 'x'.repeat(80) + "'\\n");
  let left = -1;
  const look = setInterval(() => {
    const now = client.stdin.writableLength;
    if (now === left) {
      clearInterval(look);
      process.stdout.write('taken\\n');
    }
    left = now;
  }, 100);
});
`;

const gone = (pid: number) => {
  const found = lookUpProcess(pid);
  return found.kind === 'gone' || (found.kind === 'found' && isEndedState(found.row.state));
};

async function startServer(): Promise<number> {
  await server.tmux('new-session', '-d', '-s', ANCHOR_SESSION, ...ANCHOR_COMMAND);
  return server.serverPid();
}

/** A control client with an answer under way, whose daemon was killed; its pid. */
async function orphan(): Promise<number> {
  const attach = ['-C', 'attach-session', '-f', CONTROL_FLAGS.join(','), '-t', `=${ANCHOR_SESSION}`];
  const daemon = spawn(
    process.execPath,
    ['-e', DAEMON, 'tmux', '-u', '-f', '/dev/null', '-S', server.socket, ...attach],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const [first] = (await once(daemon.stdout, 'data')) as [Buffer];
  const client = Number(String(first));
  await until('the client', async () =>
    (await server.tmux('list-clients', '-F', '#{client_pid}')).includes(String(client)),
  );
  daemon.stdin.write('ask\n');
  await once(daemon.stdout, 'data');
  daemon.kill('SIGKILL');
  await once(daemon, 'exit');
  return client;
}

describe('a control client whose daemon was killed', () => {
  it('[P1] is ended by the next daemon, so that the server can end too', async () => {
    const server_pid = await startServer();
    const client = await orphan();
    const mux = server.open();
    expect((await mux.list()).kind).toBe('alive');
    await until('the end of the orphan', () => gone(client));
    await mux.stop();
    await until('the end of the server', () => gone(server_pid));
  });

  it('[P1] is ended also by a daemon that may not attach, in whichever session it is', async () => {
    await startServer();
    await server.tmux('set-option', '-g', 'detach-on-destroy', 'off');
    await server.tmux('new-session', '-d', '-s', 'user', 'sleep 600');
    const client = await orphan();
    await server.tmux('switch-client', '-c', `client-${client}`, '-t', '=user');
    expect(await server.tmux('list-clients', '-F', '#{session_name}')).toBe('user');
    const mux = server.open({ control: 'never' });
    expect((await mux.list()).kind).toBe('alive');
    await until('the end of the orphan', () => gone(client));
  });

  it('is told from one whose daemon lives', async () => {
    const parents = new Map([
      [10, 1],
      [11, process.pid],
    ]);
    const lookUp = async (pid: number): Promise<ProcessLookup> => {
      const parent = parents.get(pid);
      if (parent === undefined) return { kind: 'gone' };
      return { kind: 'found', row: { pid, parent, start_time: '1', session: null, state: 'S' } };
    };
    const ended: number[] = [];
    await endOrphans([10, 11, 12], { lookUp }, (pid) => ended.push(pid));
    expect(ended).toEqual([10]);
  });

  it('is looked for among the clients of daemons only', () => {
    const flags = 'attached,control-mode,ignore-size,no-output,UTF-8';
    const lines = [`10 ${flags}`, '11 attached,focused', '12 attached,control-mode', `x ${flags}`, ''];
    expect(daemonClientPids([...lines, `13 ${flags}`])).toEqual([10, 13]);
  });
});
