import { createHash } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { HARNESS_NAMES, type HarnessName } from '../../contract/harness-name.ts';
import { packageRoot } from '../../platform/package-root.ts';
import { READ_LIMITS } from '../../platform/read-limits.ts';
import { readRegularTextSync } from '../../platform/regular-file.ts';
import { harnessFolder } from '../harnesses.ts';

/** The skills that every launch message names. */
const WORKER_SKILLS = ['fiber-store', 'fiber-service'] as const;

/** Folder of the skills in this package. */
export function packageSkills(): string {
  return join(packageRoot(), 'ops', 'skills');
}

/** Every file of the worker skills below a folder, by relative path; missing skills are left out. */
export function readSkillFiles(folder: string): Map<string, string> {
  const files = new Map<string, string>();
  for (const skill of WORKER_SKILLS) {
    if (statSync(join(folder, skill), { throwIfNoEntry: false })?.isDirectory() !== true) continue;
    const names = readdirSync(join(folder, skill), { recursive: true, encoding: 'utf8' }).sort();
    for (const name of names.filter((each) => each.endsWith('.md')))
      files.set(`${skill}/${name}`, readRegularTextSync(join(folder, skill, name), READ_LIMITS.skill_file));
  }
  return files;
}

/**
 * Digest of the skills' content. The content includes the digest of the launch messages, so two packages with the same
 * generation agree on both (VER-3).
 */
export function skillGeneration(files: ReadonlyMap<string, string>): string {
  const hash = createHash('sha256');
  for (const [name, text] of [...files].sort(([a], [b]) => (a < b ? -1 : 1)))
    hash.update(`${name}\0${text}\0`);
  return hash.digest('hex').slice(0, 12);
}

/** Digest of the launch messages that the skills were written for, from their frontmatter. */
export function namedPromptDigest(files: ReadonlyMap<string, string>): string | null {
  const [, frontmatter = ''] =
    /^---\n([\s\S]*?)\n---\n/.exec(files.get('fiber-service/SKILL.md') ?? '') ?? [];
  return /^metadata:\n {2}launch-message: "?([0-9a-f]+)"?$/m.exec(frontmatter)?.[1] ?? null;
}

/** The state of the worker skills of a harness, compared with this package. */
export type SkillState = {
  harness: HarnessName;
  state: 'current' | 'skewed' | 'absent';
  generation: string | null;
};

/** Compares the skills in each harness's folder with those of this package (VER-3). */
export function compareSkills(env: NodeJS.ProcessEnv): { generation: string; installed: SkillState[] } {
  const own = readSkillFiles(packageSkills());
  const generation = skillGeneration(own);
  const installed = HARNESS_NAMES.map((harness): SkillState => {
    const files = readable(join(harnessFolder({ harness, env: {} }, env), 'skills'));
    if (files.size === 0) return { harness, state: 'absent', generation: null };
    const theirs = skillGeneration(files);
    return { harness, state: theirs === generation ? 'current' : 'skewed', generation: theirs };
  });
  return { generation, installed };
}

function readable(folder: string): Map<string, string> {
  try {
    return readSkillFiles(folder);
  } catch {
    return new Map();
  }
}
