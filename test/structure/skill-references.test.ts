import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { workerSkills } from '../../src/dispatch/plan/launch-message.ts';
import { launchMessageDigest } from '../../src/dispatch/plan/launch-message-digest.ts';
import {
  buildPrompt,
  type CaptureMessageFacts,
  type FiberMessageFacts,
} from '../../src/dispatch/plan/prompt.ts';
import { namedPromptDigest, packageSkills, readSkillFiles } from '../../src/harness/hooks/worker-skills.ts';

const ROOT = packageSkills();
const skills = workerSkills(ROOT);
const shared = {
  skills,
  surface: 'cli',
  headless: true,
  run_id: 'r',
  launch_id: 'l',
  user_message: 'hello',
} as const;
const FIBER: FiberMessageFacts = {
  ...shared,
  variant: 'fiber',
  fiber: 'a',
  store: '/nowhere/store',
  kind: 'standing',
  standing_mode: 'ad-hoc',
  resumed: false,
  previous: { session_uuid: 's', harness: 'claude', cut_off: true, transcript: '/nowhere/t.jsonl' },
  collaboration: null,
};
const CAPTURE: CaptureMessageFacts = {
  ...shared,
  variant: 'capture',
  reference: join(dirname(skills.service.path), 'references', 'capture.md'),
  install: {},
  claim: { url: 'http://127.0.0.1/api/v1/claim', socket: null, body: {}, command: 'svc claim' },
};

/** Frontmatter of a skill, a field a line. */
function fieldsOf(text: string): Record<string, string> {
  const block = /^---\n([\s\S]*?)\n---\n/.exec(text)?.[1] ?? '';
  return Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2)));
}

describe('the worker skills', () => {
  it.each([
    ['a fiber', buildPrompt(FIBER)],
    ['a resumed fiber', buildPrompt({ ...FIBER, resumed: true })],
    ['a capture', buildPrompt(CAPTURE)],
  ])('[PRM-8] contain every skill and reference that the launch message of %s names', (_what, prompt) => {
    const [preamble = ''] = prompt.split('\n');
    const activated = [...preamble.matchAll(/fiber-[a-z]+/g)].map(([name]) => name);
    expect(activated).toEqual(['fiber-store', 'fiber-service']);
    const paths = [...prompt.matchAll(/(\/\S+\.md)/g)].map(([, path]) => path!);
    expect(paths.length).toBeGreaterThanOrEqual(2);
    for (const path of paths) expect(existsSync(path), path).toBe(true);
    for (const name of activated) expect(paths).toContain(join(ROOT, name, 'SKILL.md'));
  });

  it.each(readdirSync(ROOT))('[PRM-1] are in the Agent Skills format: %s', (name) => {
    const fields = fieldsOf(readFileSync(join(ROOT, name, 'SKILL.md'), 'utf8'));
    const more = name === 'fiber-service' ? ['metadata:', '  launch-message'] : [];
    expect(Object.keys(fields)).toEqual(['name', 'description', ...more]);
    expect(fields.name).toBe(name);
    expect(fields.description!.length).toBeGreaterThan(60);
    expect(fields.description!.length).toBeLessThanOrEqual(1024);
  });

  it('[VER-3] were written for the current launch messages, and name their digest in the frontmatter', async () => {
    const said = launchMessageDigest();
    const hint = `read the skills against the new messages, then write launch-message: "${said}" into fiber-service/SKILL.md`;
    expect(namedPromptDigest(await readSkillFiles(ROOT)), hint).toBe(said);
  });

  it('[PRM-8] link to each reference, and only to existing ones', async () => {
    const files = [...(await readSkillFiles(ROOT))];
    const named = files.flatMap(([file, text]) =>
      [...text.matchAll(/references\/[a-z-]+\.md/g)].map(([path]) => join(file.split('/')[0]!, path)),
    );
    const there = files.map(([file]) => file).filter((file) => basename(dirname(file)) === 'references');
    expect([...new Set(named)].sort()).toEqual(there.sort());
  });
});
