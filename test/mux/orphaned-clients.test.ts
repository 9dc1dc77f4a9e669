import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { controlPids, endOrphans } from '../../src/mux/orphaned-clients.ts';
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

describe('a control client whose daemon was killed', () => {
  it('[P1] is ended by the next daemon, so that the server can end too', async () => {
    await server.tmux('new-session', '-d', '-s', ANCHOR_SESSION, 'sleep 600');
    const server_pid = await server.serverPid();
    const attach = ['-C', 'attach-session', '-f', 'no-output,ignore-size', '-t', `=${ANCHOR_SESSION}`];
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

    const mux = server.open();
    expect((await mux.list()).kind).toBe('alive');
    await until('the end of the orphan', () => gone(client));
    await mux.stop();
    await until('the end of the server', () => gone(server_pid));
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

  it('is looked for among the clients in control mode only', () => {
    expect(controlPids(['1 10', '0 11', '1 x', '', '1 12'])).toEqual([10, 12]);
  });
});
