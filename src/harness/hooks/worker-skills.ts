import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { systemCode } from '../../base/errors.ts';
import { HARNESS_NAMES, type HarnessName } from '../../contract/harness-name.ts';
import { namesInForeign, statForeign } from '../../platform/foreign-paths.ts';
import { packageRoot } from '../../platform/package-root.ts';
import { READ_LIMITS } from '../../platform/read-limits.ts';
import { readRegularText } from '../../platform/regular-file.ts';
import { harnessFolder } from '../harnesses.ts';

/** The skills that every launch message names. */
const WORKER_SKILLS = ['fiber-store', 'fiber-service'] as const;

/** Folder of the skills in this package. */
export function packageSkills(): string {
  return join(packageRoot(), 'ops', 'skills');
}

/** Every file of the worker skills below a folder, by relative path; missing skills are left out. */
export async function readSkillFiles(folder: string): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for (const skill of WORKER_SKILLS) {
    for (const name of (await markdownBelow(join(folder, skill))).sort())
      files.set(`${skill}/${name}`, await readRegularText(join(folder, skill, name), READ_LIMITS.skill_file));
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
export async function compareSkills(
  env: NodeJS.ProcessEnv,
): Promise<{ generation: string; installed: SkillState[] }> {
  const own = await readSkillFiles(packageSkills());
  const generation = skillGeneration(own);
  const compare = async (harness: HarnessName): Promise<SkillState> => {
    const files = await readable(join(harnessFolder({ harness, env: {} }, env), 'skills'));
    if (files.size === 0) return { harness, state: 'absent', generation: null };
    const theirs = skillGeneration(files);
    return { harness, state: theirs === generation ? 'current' : 'skewed', generation: theirs };
  };
  return { generation, installed: await Promise.all(HARNESS_NAMES.map(compare)) };
}

/** Relative paths of the Markdown files below a folder; none where there is none. */
async function markdownBelow(folder: string): Promise<string[]> {
  const found: string[] = [];
  for (const name of await namesInForeign(folder).catch(noneIfMissing)) {
    if (name.endsWith('.md')) found.push(name);
    else if ((await statForeign(join(folder, name))).isDirectory())
      found.push(...(await markdownBelow(join(folder, name))).map((below) => join(name, below)));
  }
  return found;
}

function noneIfMissing(error: unknown): string[] {
  if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return [];
  throw error;
}

async function readable(folder: string): Promise<Map<string, string>> {
  try {
    return await readSkillFiles(folder);
  } catch {
    return new Map();
  }
}
