import type { Agent } from '../contract/agent.ts';
import type { HarnessName } from '../contract/harness-name.ts';
import type { DoctorReply } from '../contract/http/doctor.ts';
import type { HarnessAdapter } from '../harness/adapter.ts';
import { cutText } from '../harness/transcripts/transcript-words.ts';
import { findExecutable } from '../platform/find-executable.ts';
import { NEUTRAL_DIRECTORY } from '../platform/piped-process.ts';
import type { ProcessRunner } from '../platform/process.ts';

const LOOK_TIMEOUT_MS = 5_000;
/** Of what a program says in place of a version. */
const VERSION_CHARS = 100;
const BASE_TOOLS = ['tmux', 'git'];

/** The programs that workers need, as this very process finds them (P31); each is asked for its version. */
export async function lookAtTools(
  runner: Pick<ProcessRunner, 'run'>,
  agents: readonly Pick<Agent, 'cli'>[],
): Promise<Pick<DoctorReply, 'path' | 'tools'>> {
  const path = process.env.PATH ?? '';
  const names = [...new Set([...BASE_TOOLS, ...agents.map((agent) => agent.cli)])];
  const tools = await Promise.all(
    names.map(async (name) => {
      const found = await findExecutable(name, path);
      return { name, path: found, version: found === null ? null : await versionOf(runner, name, found) };
    }),
  );
  return { path, tools };
}

/** Which agents have an account; null of one whose files cannot be read. */
export function lookAtSignIns(
  agents: readonly Agent[],
  adapter: (name: HarnessName) => Pick<HarnessAdapter, 'signIn'>,
): Promise<DoctorReply['agents']> {
  const look = async (agent: Agent) => {
    const { id, harness } = agent;
    const found = await adapter(harness)
      .signIn(agent)
      .catch(() => ({ signed_in: null, mend: 'see: svc doctor' }));
    return { id, harness, ...found };
  };
  return Promise.all(agents.map(look));
}

async function versionOf(
  runner: Pick<ProcessRunner, 'run'>,
  name: string,
  file: string,
): Promise<string | null> {
  const result = await runner.run({
    file,
    args: [name === 'tmux' ? '-V' : '--version'],
    cwd: NEUTRAL_DIRECTORY,
    timeout_ms: LOOK_TIMEOUT_MS,
    max_output_bytes: 64 * 1024,
  });
  const [line = ''] = result.kind === 'exited' && result.code === 0 ? result.stdout.trim().split('\n') : [];
  return line === '' ? null : cutText(line, VERSION_CHARS);
}
