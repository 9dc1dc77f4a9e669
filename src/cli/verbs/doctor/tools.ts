import { isCoded } from '../../../base/errors.ts';
import { doctorReplySchema } from '../../../contract/http/doctor.ts';
import type { DaemonFile } from '../../../contract/operator-files.ts';
import { unansweredWords } from '../../../platform/disks.ts';
import { findExecutable, silentFolders } from '../../../platform/find-executable.ts';
import { runProcess } from '../../../platform/process.ts';
import { createDaemonClient } from '../../daemon-client/client.ts';
import { type Check, type DoctorContext, type Finding, fail, ok, warn } from './check.ts';
import { isOlder } from './runtime.ts';

/** What is asked of the daemon; agents are checked here. */
const TOLD = doctorReplySchema.pick({ tools: true });

/** The oldest tmux that supports the control mode and session options we use. */
const LEAST_TMUX = '3.2';

/** The required programs, as this shell and the daemon find them. */
export const checkTools: Check = async (context) => [
  ...(await silentFolders(context.env.PATH ?? '')).map((folder) =>
    warn('PATH', unansweredWords(folder, 'silent'), 'mount it again, or take it out of PATH'),
  ),
  tmux(await firstLine(context, 'tmux', ['-V'])),
  git(await firstLine(context, 'git', ['--version'])),
  ...(context.daemon.kind === 'running' ? await seenByDaemon(context.daemon.daemon, context.env) : []),
];

function tmux(found: Tool | null): Finding {
  if (found === null)
    return fail('tmux', 'tmux is not on the PATH', 'install tmux with the system’s packages');
  if (found.line === null)
    return fail('tmux', `${found.path} does not run`, 'install tmux again with the system’s packages');
  const version = /(\d+\.\d+)/.exec(found.line)?.[1];
  return version !== undefined && isOlder(version, LEAST_TMUX)
    ? fail('tmux', `${found.line} is too old`, `install tmux ${LEAST_TMUX} or newer`)
    : ok('tmux', `${found.line} (${found.path})`);
}

function git(found: Tool | null): Finding {
  return found === null || found.line === null
    ? warn('git', 'git is not on the PATH', 'install git; workers need it for most projects')
    : ok('git', `${found.line} (${found.path})`);
}

/** `line` is the first line of its version output; null if it fails. */
type Tool = { path: string; line: string | null };

async function firstLine(
  context: DoctorContext,
  name: string,
  args: readonly string[],
): Promise<Tool | null> {
  const path = await findExecutable(name, context.env.PATH ?? '');
  if (path === null) return null;
  const result = await runProcess({
    file: path,
    args,
    env: context.env,
    timeout_ms: 5_000,
    max_output_bytes: 64 * 1024,
  });
  const line = result.kind === 'exited' && result.code === 0 ? result.stdout.split('\n')[0] : undefined;
  return { path, line: line ?? null };
}

/** A program that this shell does not find either is nothing that the daemon lacks. */
async function seenByDaemon(daemon: DaemonFile, env: NodeJS.ProcessEnv): Promise<Finding[]> {
  const name = 'tools of the daemon';
  try {
    const { tools } = await createDaemonClient(daemon).get('/doctor', TOLD);
    const lacking = tools.filter((tool) => tool.path === null);
    const here = await Promise.all(lacking.map(({ name }) => findExecutable(name, env.PATH ?? '')));
    const missing = lacking.flatMap(({ name }, nth) => {
      const path = here[nth] ?? null;
      return path === null ? [] : [{ name, here: path }];
    });
    const found = tools.filter((tool) => tool.path !== null);
    return [
      ...found.map((tool) =>
        ok(name, `${tool.name}: ${tool.path}${tool.version ? ` (${tool.version})` : ''}`),
      ),
      ...missing.map((tool) =>
        warn(
          name,
          `the daemon does not find ${tool.name}, which is ${tool.here} in this shell`,
          'start the daemon from this shell: svc daemon restart',
        ),
      ),
    ];
  } catch (error) {
    if (!isCoded(error)) throw error;
    return [
      warn(
        name,
        `the daemon does not answer this: ${error.message}`,
        'if it is an older one, run: svc daemon restart',
      ),
    ];
  }
}
