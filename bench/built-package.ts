import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildPackage } from '../test/kit/built-package.ts';

/** `checkout`: TypeScript, stripped at every start. `package`: what is installed from npm. */
export type Form = 'checkout' | 'package';

const root = fileURLToPath(new URL('..', import.meta.url));
let built: string | null = null;

/** Path of the launcher of either form; the package is built at the first question for it. */
export function launcherOf(form: Form): string {
  return join(form === 'checkout' ? root : packageFolder(), 'src/cli/svc.cjs');
}

function packageFolder(): string {
  if (built !== null) return built;
  const folder = buildPackage();
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  built = folder;
  return folder;
}
