import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { z } from 'zod';
import { messageOf, systemCode } from '../../base/errors.ts';
import type { Settings } from '../../config/settings.ts';

/** Where each operator file lies: its own setting, else the config folder. */
export function operatorFilePath(
  settings: Settings,
  file: 'stores' | 'projects' | 'host' | 'agents' | 'remotes',
) {
  const own = {
    agents: settings.agents_file,
    host: settings.host_config_file,
    remotes: settings.remotes_file,
  };
  const set = file in own ? own[file as keyof typeof own] : null;
  return set ?? join(settings.config_dir, `${file}.json`);
}

/** An operator file as it is on disk. */
export type OperatorFile<T> =
  | { kind: 'absent' }
  | { kind: 'invalid'; detail: string }
  | { kind: 'valid'; value: T };

/** Reads one operator file and checks it against its schema. */
export function readOperatorFile<S extends z.ZodType>(path: string, schema: S): OperatorFile<z.output<S>> {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return { kind: 'absent' };
    return { kind: 'invalid', detail: messageOf(error) };
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return { kind: 'valid', value: parsed.data };
  const issue = parsed.error.issues[0];
  const at = issue === undefined || issue.path.length === 0 ? '' : ` at ${issue.path.join('.')}`;
  return { kind: 'invalid', detail: `${issue?.message ?? 'it has another shape'}${at}` };
}
