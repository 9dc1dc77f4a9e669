import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { parseAppServerAddress } from '../../src/config/app-server-address.ts';
import { AppServerConnection } from '../../src/harness/app-server/connection.ts';
import { eventually } from './processes.ts';
import { BIN } from './real-harness.ts';

/** The real app server of a scratch home, started and stopped as its operator would. */
export type RealAppServer = {
  /** What `SVC_APP_SERVER` is set to. */
  setting: string;
  /** Asks the server as the desktop app would. */
  ask<T>(method: string, params: Record<string, unknown>): Promise<T>;
  stop(): Promise<void>;
  /** Ends it at once, as a crash would. */
  kill(): Promise<void>;
  restart(): Promise<void>;
};

/** Starts `codex app-server` on a socket below `root`. */
export async function startRealAppServer(root: string, env: Record<string, string>): Promise<RealAppServer> {
  const path = join(root, 'app.sock');
  const setting = `unix:${path}`;
  let child: ChildProcess | undefined;
  let connection: AppServerConnection | undefined;

  const start = async () => {
    rmSync(path, { force: true });
    const began = spawn(join(BIN, 'codex'), ['app-server', '--listen', `unix://${path}`], {
      env,
      cwd: root,
      stdio: 'ignore',
    });
    child = began;
    const up = await eventually(async () => {
      if (began.exitCode !== null) throw new Error(`the app server ended with ${began.exitCode}`);
      return existsSync(path) ? true : null;
    }, 30_000);
    if (up === null) throw new Error('the app server is not up');
    connection = new AppServerConnection({
      address: parseAppServerAddress(setting)!,
      clock: systemClock,
      onNotice: () => {},
    });
  };
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    connection?.close();
    const ending = child;
    if (ending === undefined || ending.exitCode !== null || ending.signalCode !== null) return;
    const ended = new Promise((resolve) => ending.once('exit', resolve));
    ending.kill(signal);
    await ended;
  };
  await start();
  return {
    setting,
    ask: async <T>(method: string, params: Record<string, unknown>) =>
      (await connection!.request(method, params, { at_once: true })) as T,
    stop: () => stop(),
    kill: () => stop('SIGKILL'),
    async restart() {
      await stop();
      await start();
    },
  };
}
