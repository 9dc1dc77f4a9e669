import { shellWord } from '../base/shell-word.ts';
import type { Settings } from './settings.ts';

/** The command that runs `svc` with these settings. */
export function svcOf({ demo, demo_dir }: Pick<Settings, 'demo' | 'demo_dir'>): string {
  if (!demo) return 'svc';
  return demo_dir === null ? 'svc demo' : `svc demo --dir ${shellWord(demo_dir)}`;
}

/** The command that starts the daemon of these settings. */
export function startCommand(settings: Pick<Settings, 'demo' | 'demo_dir'>): string {
  return settings.demo ? svcOf(settings) : 'svc daemon start';
}
