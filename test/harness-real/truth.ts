import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { isAlive } from './processes.ts';
import type { LaunchOnDisk, RealDaemon } from './real-daemon.ts';

/** What the machine itself shows of one daemon’s fibers, read without the daemon. */
export type Truth = {
  /** Frontmatter of each document by its path. */
  documents: Map<string, Frontmatter>;
  /** Pid of the first process of each tmux session’s panes. */
  panes: Map<string, number>;
  /** Every run directory, oldest first. */
  launches: LaunchOnDisk[];
};

export type Frontmatter = {
  id?: string;
  name?: string;
  status?: string;
  tempered?: boolean;
  outcome?: string;
  svc?: Record<string, unknown> & { runtime?: Record<string, string> };
};

export async function readTruth(one: RealDaemon): Promise<Truth> {
  const listed = await one
    .tmux('list-panes', '-a', '-F', '#{pane_dead} #{pane_pid} #{session_name}')
    .catch(() => '');
  const panes = new Map<string, number>();
  for (const line of listed.split('\n').filter(Boolean)) {
    const [, dead, pid, name] = /^(\d) (\d+) (.*)$/.exec(line) ?? [];
    if (dead === '0' && isAlive(Number(pid))) panes.set(name!, Number(pid));
  }
  const folder = join(one.store, '.fibers');
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => /(?:^|\/)([^/.][^/]*)\/\1\.md$/.test(path))
    .map((path) => join(folder, path));
  const documents = new Map(paths.map((path) => [path, frontmatterOf(readFileSync(path, 'utf8'))]));
  return { documents, panes, launches: one.launches() };
}

function frontmatterOf(text: string): Frontmatter {
  return parse(text.split(/^---$/m)[1] ?? '') as Frontmatter;
}
