import { join } from 'node:path';
import { z } from 'zod';
import { CodedError, messageOf, systemCode } from '../base/errors.ts';
import { READ_LIMITS } from '../platform/read-limits.ts';
import { readRegularText } from '../platform/regular-file.ts';

const remoteSchema = z.looseObject({ name: z.string().min(1) });
const remotesFileSchema = z.looseObject({ remotes: z.array(z.unknown()), defaults: z.unknown().optional() });

/** How a remote is polled by default. */
const DEFAULT_TIMING = { poll_interval_ms: 5_000, request_timeout_ms: 2_000, stale_multiplier: 4 };
/** Least interval of polls, in milliseconds. */
const LEAST_INTERVAL_MS = 100;

/** How often a remote is asked, how long its answer may take to begin, and after how many intervals its copy is stale. */
export type Timing = typeof DEFAULT_TIMING;

/** An entry that names a remote, as it is written; what else it holds is for those who use it. */
export type RemoteEntry = z.infer<typeof remoteSchema>;

export type RemotesFile = {
  /** In file order, each name once. */
  entries: RemoteEntry[];
  /** `defaults` of the file, which the keys of an entry precede. */
  defaults: unknown;
  /** One sentence for every entry that is not a remote. */
  problems: string[];
};

/** Where the remotes are configured: their own setting, else the config dir. */
export function remotesPath(settings: { remotes_file: string | null; config_dir: string }): string {
  return settings.remotes_file ?? join(settings.config_dir, 'remotes.json');
}

/** Reads the configured remotes; none when the file is absent; throws `invalid_config` when it cannot be read. */
export async function readRemotesFile(path: string): Promise<RemotesFile> {
  const { remotes: written, defaults = null } = await contentOf(path);
  const named = new Map<string, RemoteEntry>();
  const problems: string[] = [];
  written.forEach((entry, index) => {
    const remote = remoteSchema.safeParse(entry);
    if (!remote.success) problems.push(`${path}: entry ${index + 1} of "remotes" needs a "name"`);
    else if (named.has(remote.data.name)) problems.push(`${path}: two remotes are named ${remote.data.name}`);
    else named.set(remote.data.name, remote.data);
  });
  return { entries: [...named.values()], defaults, problems };
}

/** How the remote of an entry is polled. An invalid value is ignored. */
export function timingOf(entry: RemoteEntry, defaults: unknown): Timing {
  const [own, common] = [entry, defaults].map((value) => timingSchema.safeParse(value).data ?? {});
  return { ...DEFAULT_TIMING, ...given(common), ...given(own) };
}

const timingSchema = z.object({
  poll_interval_ms: z.number().min(LEAST_INTERVAL_MS).optional().catch(undefined),
  request_timeout_ms: z.number().min(1).optional().catch(undefined),
  stale_multiplier: z.number().positive().optional().catch(undefined),
});

function given(timing: z.infer<typeof timingSchema> | undefined): Partial<Timing> {
  return Object.fromEntries(Object.entries(timing ?? {}).filter(([, value]) => value !== undefined));
}

async function contentOf(path: string): Promise<z.infer<typeof remotesFileSchema>> {
  const value = await readJson(path);
  if (value === undefined) return { remotes: [] };
  const file = remotesFileSchema.safeParse(value);
  if (file.success) return file.data;
  throw new CodedError('invalid_config', `${path} must be an object with a list "remotes"`, {
    details: { path },
  });
}

async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readRegularText(path, READ_LIMITS.operator_file));
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw new CodedError('invalid_config', `${path} cannot be read as JSON: ${messageOf(error)}`, {
      details: { path },
      cause: error,
    });
  }
}
