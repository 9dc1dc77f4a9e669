import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { endWithUs, stopProgram } from '../child.ts';
import { openConnection } from '../connection.ts';

export type StaticServer = { port: number; stop(): Promise<void> };

/** nginx on one folder, reading and writing the bytes itself as we have to; null where it is not installed. */
export async function startNginx(folder: string, root: string): Promise<StaticServer | null> {
  if (spawnSync('nginx', ['-v']).error !== undefined) return null;
  const port = await freePort();
  mkdirSync(folder, { recursive: true });
  const config = join(folder, 'nginx.conf');
  writeFileSync(
    config,
    `daemon off; master_process off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log;
events { worker_connections 64; }
http {
  access_log off; sendfile off; default_type application/octet-stream;
  client_body_temp_path ${folder}/b; proxy_temp_path ${folder}/p; fastcgi_temp_path ${folder}/f;
  uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
  server { listen 127.0.0.1:${port}; root ${root}; }
}
`,
  );
  const child = spawn('nginx', ['-p', folder, '-c', config], { stdio: ['ignore', 'inherit', 'inherit'] });
  endWithUs(child);
  for (let tries = 0; ; tries += 1) {
    try {
      (await openConnection(port)).close();
      return { port, stop: () => stopProgram(child) };
    } catch (error) {
      if (tries === 200 || child.exitCode !== null) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() =>
        typeof address === 'object' && address !== null ? resolve(address.port) : reject(),
      );
    });
  });
}
