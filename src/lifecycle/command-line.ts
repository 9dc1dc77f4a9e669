import type { LifecycleRequest } from '../contract/http/lifecycle.ts';

/** Fields that are positional arguments after the fiber. */
const POSITIONAL: Readonly<Partial<Record<LifecycleRequest['action'], string>>> = {
  'set-model': 'model',
  'set-agent': 'agent',
  'set-outcome': 'outcome',
};

/**
 * The command line, after the program's name, that is equivalent to a request of `POST /lifecycle`. With `--local` the
 * command writes the document itself instead of calling a daemon.
 */
export function lifecycleArgv(request: LifecycleRequest): string[] {
  const { action, fiber, origin: _origin, ...fields } = request;
  const positional = POSITIONAL[action];
  const options: string[] = [];
  const words: string[] = [fiber];
  for (const [name, value] of Object.entries(fields)) {
    const option = `--${name.replaceAll('_', '-')}`;
    if (name === 'auto_accept' && value === false) options.push('--await-review');
    if (name === 'worktree' && value === false) options.push('--drop-worktree');
    if (value === undefined || value === false) continue;
    if (name === positional) words.push(String(value));
    else if (value === true) options.push(option);
    else if (value === null) options.push(`--default-${name}`);
    else options.push(`${option}=${value}`);
  }
  return [action, '--local', ...options, '--', ...words];
}
