import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Json } from './http.ts';

export type LaunchOnDisk = { launch_id: string; prompt: string; manifest: Json };

/** Every launch of a fiber that the run directories tell of, oldest first. */
export function launchesOf(data: string, id: string): LaunchOnDisk[] {
  const runs = join(data, 'runs');
  return namesIn(runs)
    .sort()
    .flatMap((launch_id) => {
      try {
        const manifest = JSON.parse(readFileSync(join(runs, launch_id, 'run.json'), 'utf8')) as Json;
        const prompt = readFileSync(join(runs, launch_id, 'prompt.md'), 'utf8');
        return manifest.fiber === id ? [{ launch_id, prompt, manifest }] : [];
      } catch {
        // A claim that is being made.
        return [];
      }
    });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
