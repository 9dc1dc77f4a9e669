import { hostname } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { CodedError } from './base/errors.ts';
import { daemonId } from './config/daemon-id.ts';
import { hostClass, readHostFile, requireAllowedListener, roleStoreOf } from './config/host-file.ts';
import { resolveHostId } from './config/host-identity.ts';
import { readStores } from './config/path-lists.ts';
import { dataPaths, operatorFilePaths } from './config/paths.ts';
import type { Settings } from './config/settings.ts';
import { CONTRACT_LEVEL } from './contract/level.ts';
import { type HostMemory, hostMemory } from './dispatch/run-directory/worker-memory.ts';
import { writeFileAtomic } from './platform/atomic-write.ts';
import { readBootId } from './platform/boot-id.ts';
import { failureWords } from './platform/failure-words.ts';
import { requireAnswer } from './platform/foreign-paths.ts';
import { makeFolder } from './platform/make-folder.ts';
import { createRunner } from './platform/process.ts';
import { READ_LIMITS } from './platform/read-limits.ts';
import { readRegularTextSync } from './platform/regular-file.ts';

/** What is decided once at boot and frozen. */
export type BootDecision = {
  host: string;
  /** Tells this daemon from others of its host id. */
  daemon_id: string;
  host_class: 'personal' | 'exposed';
  store_roots: readonly string[];
  boot_id: string | null;
  /** The machine itself was started since a daemon last ran on this data dir. */
  rebooted: boolean;
  cli_contract: number | null;
  /** `max_concurrent` of host.json; null for no bound. */
  max_concurrent: number | null;
  /** Whether workers that rest keep their place among these. */
  count_resting: boolean;
  /** What it says of the memory of workers. */
  host_memory: HostMemory;
  /** `role_store` of host.json as an absolute path; null without one. */
  role_store: string | null;
};

const CLI_TIMEOUT_MS = 10_000;
const hostReplySchema = z.looseObject({ host: z.string().min(1), contract: z.number().int().optional() });
const lastBootSchema = z.object({ boot_id: z.string().nullable() });

/** What the operator decides of a boot. */
export type Configured = Omit<BootDecision, 'daemon_id' | 'boot_id' | 'rebooted'>;

/** Reads what the daemon must know before it serves; throws a `CodedError` that says why it does not boot. */
export async function decideBoot(settings: Settings): Promise<BootDecision> {
  const configured = await readConfigured(settings, { persist: true });
  const boot_id = await readBootId({ platform: process.platform, runner: createRunner() });
  return {
    ...configured,
    daemon_id: daemonId(settings.data_dir),
    boot_id,
    rebooted: noteBoot(settings, boot_id),
  };
}

/**
 * The part of the boot that settings, operator files and the program of `SVC_CLI` decide. With `persist` a host id that
 * comes from the OS is written to `host.json`. Throws a `CodedError` that says why the daemon does not boot.
 */
export async function readConfigured(settings: Settings, options: { persist: boolean }): Promise<Configured> {
  const { host, stores } = operatorFilePaths(settings);
  for (const file of [host, stores]) await requireAnswer(file);
  const identity =
    settings.cli === null ? ownIdentity(settings, options) : await askCli(settings.cli, settings);
  const file = readHostFile(settings);
  requireAllowedListener(file, settings);
  return {
    ...identity,
    host_class: hostClass(file),
    store_roots: readStores(settings).paths,
    max_concurrent: file.max_concurrent ?? null,
    count_resting: file.count_resting ?? false,
    host_memory: hostMemory(file),
    role_store: roleStoreOf(file),
  };
}

function ownIdentity(
  settings: Settings,
  { persist }: { persist: boolean },
): { host: string; cli_contract: number | null } {
  const { host } = resolveHostId(settings, { hostname: hostname(), persist });
  return { host, cli_contract: CONTRACT_LEVEL };
}

/** With an external CLI, its word decides (DSP-3): if it cannot answer, the daemon does not boot. */
async function askCli(
  cli: string,
  settings: Settings,
): Promise<{ host: string; cli_contract: number | null }> {
  const answer = await createRunner().run({
    file: cli,
    args: ['host', '--json'],
    timeout_ms: CLI_TIMEOUT_MS,
    max_output_bytes: 64 * 1024,
  });
  const reply = answer.kind === 'exited' && answer.code === 0 ? parseReply(answer.stdout) : null;
  if (reply === null)
    throw new CodedError(
      'cli_unavailable',
      `SVC_CLI is ${cli}, and \`${cli} host --json\` gave no host id (${answer.kind === 'exited' && answer.code === 0 ? 'it printed something else' : failureWords(answer)}); fix it or unset SVC_CLI`,
    );
  return { host: settings.host ?? reply.host, cli_contract: reply.contract ?? null };
}

function parseReply(text: string): z.infer<typeof hostReplySchema> | null {
  try {
    return hostReplySchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** Records the boot of the machine; true when an earlier daemon recorded another one (P8). */
function noteBoot(settings: Settings, boot_id: string | null): boolean {
  const { state_dir } = dataPaths(settings);
  const path = join(state_dir, 'boot.json');
  const last = lastBoot(path);
  makeFolder(state_dir);
  if (last !== boot_id) writeFileAtomic(path, `${JSON.stringify({ boot_id })}\n`, { mode: 0o600 });
  return last !== null && boot_id !== null && last !== boot_id;
}

function lastBoot(path: string): string | null {
  try {
    return lastBootSchema.parse(JSON.parse(readRegularTextSync(path, READ_LIMITS.state_file))).boot_id;
  } catch {
    return null;
  }
}
