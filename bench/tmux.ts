import { spawn, spawnSync } from 'node:child_process';

/** Sockets of the servers that may still run; one listener for all, however many daemons a question starts. */
const servers = new Set<string>();
process.once('exit', () => {
  for (const socket of servers) endNow(socket);
});

/** Runs one tmux command on a private server and answers what it printed; throws when it failed. */
export function tmux(socket: string, args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('tmux', ['-S', socket, '-f', '/dev/null', ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
    });
    child.stderr.on('data', (chunk) => {
      text += chunk;
    });
    child.once('error', reject);
    child.once('close', (code) =>
      code === 0 ? resolve(text) : reject(new Error(`tmux ${args[0]} ended with ${code}: ${text}`)),
    );
  });
}

export async function listSessions(socket: string): Promise<string[]> {
  return (await tmux(socket, ['list-sessions', '-F', '#{session_name}'])).trim().split('\n');
}

/** Ends every session of a private server of ours, and with the last one the server. */
export async function endServer(socket: string): Promise<void> {
  const sessions = await listSessions(socket).catch(() => []);
  for (const name of sessions) await tmux(socket, ['kill-session', '-t', `=${name}`]).catch(() => '');
  servers.delete(socket);
}

/** Does the same for a private server of ours when we are ended early. */
export function endServerWithUs(socket: string): void {
  servers.add(socket);
}

function endNow(socket: string): void {
  const at = ['-S', socket];
  const list = spawnSync('tmux', [...at, 'list-sessions', '-F', '#{session_name}'], { encoding: 'utf8' });
  if (list.status !== 0) return;
  for (const name of list.stdout.trim().split('\n'))
    spawnSync('tmux', [...at, 'kill-session', '-t', `=${name}`]);
}
