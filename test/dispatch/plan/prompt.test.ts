import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Roster } from '../../../src/contract/fiber.ts';
import { workerSkills } from '../../../src/dispatch/plan/launch-message.ts';
import {
  buildPrompt,
  type CaptureMessageFacts,
  type FiberMessageFacts,
} from '../../../src/dispatch/plan/prompt.ts';

const skills = {
  store: { name: 'fiber-store', path: '/opt/fd/ops/skills/fiber-store/SKILL.md' },
  service: { name: 'fiber-service', path: '/opt/fd/ops/skills/fiber-service/SKILL.md' },
};

const plain: FiberMessageFacts = {
  variant: 'fiber',
  skills,
  fiber: 'work/loader',
  store: '/srv/notes',
  kind: 'oneshot',
  surface: 'cli',
  headless: true,
  run_id: '01KRUN',
  launch_id: '01KRUN',
  standing_mode: null,
  resumed: false,
  previous: null,
  collaboration: null,
  user_message: null,
};
const capture: CaptureMessageFacts = {
  variant: 'capture',
  skills,
  reference: '/opt/fd/ops/skills/fiber-service/references/capture.md',
  surface: 'cli',
  headless: false,
  run_id: '01KCAP',
  launch_id: '01KCAP',
  install: { host: 'host-a', store: '/srv/notes' },
  claim: {
    url: 'http://127.0.0.1:4000/api/v1/claim',
    socket: null,
    body: { mux_session: 'capture-1', fiber_id: '<id>' },
    command: 'svc claim <id> --mux-session capture-1',
  },
  user_message: 'Look into the slow loader.',
};

const PREAMBLE =
  'You are a fiber worker: activate the skills fiber-store and fiber-service before you do anything else.';
const linesOf = (facts: Partial<FiberMessageFacts> = {}) => buildPrompt({ ...plain, ...facts }).split('\n');
const line = (label: string, facts: Partial<FiberMessageFacts> = {}) =>
  linesOf(facts).filter((text) => text.startsWith(`${label}:`));

describe('the launch message', () => {
  it('[PRM-1] is one fixed sentence and then the facts of this dispatch, nothing else', () => {
    expect(linesOf()).toEqual([
      PREAMBLE,
      'Skill fiber-store: /opt/fd/ops/skills/fiber-store/SKILL.md',
      'Skill fiber-service: /opt/fd/ops/skills/fiber-service/SKILL.md',
      'Fiber: work/loader',
      'Store: /srv/notes',
      'Kind: oneshot',
      'Surface: cli',
      'Headless: yes',
      'Run: 01KRUN',
    ]);
  });

  it('[PRM-1] opens with the same sentence whatever the facts', () => {
    for (const text of [buildPrompt({ ...plain, resumed: true, kind: 'pinned' }), buildPrompt(capture)]) {
      expect(text.startsWith(`${PREAMBLE}\n`)).toBe(true);
    }
  });

  it('[PRM-2] names the fiber, its store, the kind, the surface and whether anybody watches', () => {
    const facts = { fiber: 'a/b', store: '/s', kind: 'pinned', surface: 'app', headless: false } as const;
    expect(linesOf(facts)).toEqual(
      expect.arrayContaining(['Fiber: a/b', 'Store: /s', 'Kind: pinned', 'Surface: app', 'Headless: no']),
    );
  });

  it('[PRM-3] tells a resumed session to sync and read the fiber again, and a fresh one nothing of that', () => {
    const previous = { session_uuid: 'u', harness: 'claude', cut_off: true, transcript: '/t.jsonl' };
    const text = buildPrompt({ ...plain, resumed: true, previous });
    expect(text).toMatch(/\nMode: resume\n.*sync the store and read the fiber again/);
    expect(text).not.toContain('Previous session');
    expect(buildPrompt(plain)).not.toMatch(/Mode:|sync/);
  });

  it.each(['scheduled', 'ad-hoc'] as const)('[PRM-4] gives a standing run its id and the mode %s', (mode) => {
    const facts = { kind: 'standing', run_id: 'adhoc-1753900003000', standing_mode: mode } as const;
    expect(line('Run', facts)).toEqual(['Run: adhoc-1753900003000']);
    expect(line('Mode', facts)).toEqual([`Mode: ${mode}`]);
  });

  it('[PRM-5] names the previous session of a fresh start, and no more when it handed off', () => {
    const previous = { session_uuid: '1111-2222', harness: 'codex', cut_off: false, transcript: '/t.jsonl' };
    expect(line('Previous session', { previous })).toEqual(['Previous session: 1111-2222 (codex)']);
    expect(line('Previous session')).toEqual([]);
  });

  it('[PRM-5] says of a cut-off session that it was cut off, and where its transcript lies', () => {
    const previous = { session_uuid: '1111-2222', harness: 'pi', cut_off: true, transcript: '/t/a.jsonl' };
    expect(line('Previous session', { previous })).toEqual([
      'Previous session: 1111-2222 (pi); it ended without a handoff and is not resumed; transcript: /t/a.jsonl',
    ]);
    expect(line('Previous session', { previous: { ...previous, transcript: null } })).toEqual([
      'Previous session: 1111-2222 (pi); it ended without a handoff and is not resumed; its transcript is not on this host',
    ]);
  });

  it.each<{ roster: Roster; says: string }>([
    { roster: { reviewer: ['ada'] }, says: 'role reviewer; collaborator ada' },
    { roster: { reviewer: ['ada', 'ben'] }, says: 'role reviewer' },
    { roster: { reviewer: [] }, says: 'role reviewer' },
    { roster: { writer: ['ada'], reviewer: ['ada'] }, says: 'roles reviewer, writer' },
    { roster: { '': ['ben'], reviewer: ['ada', 'ben'] }, says: 'role reviewer' },
  ])('[PRM-6] says "$says" for the roster $roster', ({ roster, says }) => {
    expect(line('Collaboration', { collaboration: { roster, role_store: null } })).toEqual([
      `Collaboration: ${says}`,
    ]);
    expect(line('Collaboration', { collaboration: { roster, role_store: '/roles' } })).toEqual([
      `Collaboration: ${says}; role store /roles`,
    ]);
  });

  it('[PRM-6] says nothing of collaboration without a roster', () => {
    expect(line('Collaboration')).toEqual([]);
    expect(line('Collaboration', { collaboration: { roster: {}, role_store: '/roles' } })).toEqual([]);
  });

  it('[PRM-7] ends with the user’s words exactly as they were given', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }).filter((text) => text.trim() !== ''),
        (user_message) => {
          const text = buildPrompt({ ...plain, user_message });
          expect(text).toBe(`${buildPrompt(plain)}\nFrom User:\n${user_message}`);
        },
      ),
    );
  });

  it.each([null, '', ' \n\t'])('[PRM-7] has no From User line for the blank message %j', (user_message) => {
    expect(buildPrompt({ ...plain, user_message })).toBe(buildPrompt(plain));
  });

  it('[PRM-8] points a capture to its reference and carries the install data and the exact claim', () => {
    expect(buildPrompt(capture).split('\n').slice(1)).toEqual([
      'Skill fiber-store: /opt/fd/ops/skills/fiber-store/SKILL.md',
      'Skill fiber-service: /opt/fd/ops/skills/fiber-service/SKILL.md',
      'Capture: /opt/fd/ops/skills/fiber-service/references/capture.md',
      'Surface: cli',
      'Headless: no',
      'Run: 01KCAP',
      'Install: {"host":"host-a","store":"/srv/notes"}',
      'Claim: POST http://127.0.0.1:4000/api/v1/claim',
      'Claim body: {"mux_session":"capture-1","fiber_id":"<id>"}',
      'Claim command: svc claim <id> --mux-session capture-1',
      'From User:',
      'Look into the slow loader.',
    ]);
  });

  it('carries its run id whatever the kind, so that a session can be recognised by it', () => {
    for (const kind of ['oneshot', 'standing', 'pinned'] as const) {
      expect(line('Run', { kind, run_id: '01KMARK' })).toEqual(['Run: 01KMARK']);
    }
    expect(buildPrompt(capture)).toContain('01KCAP');
  });

  it('keeps every fact on one line, whatever a file is called', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (odd) => {
        const previous = { session_uuid: odd, harness: 'claude', cut_off: true, transcript: odd };
        const collaboration = { roster: { [`r${odd}`]: [odd] }, role_store: odd };
        const lines = linesOf({ fiber: odd, store: odd, previous, collaboration });
        expect(lines).toHaveLength(11);
      }),
    );
  });
});

describe('the references of a launch message', () => {
  const folder = fileURLToPath(new URL('../../../ops/skills', import.meta.url));
  const packaged = workerSkills(folder);
  const capture_reference = join(folder, 'fiber-service', 'references', 'capture.md');

  it.each(Object.values(packaged))(
    '[PRM-8] $name can be loaded, and so can all it names',
    ({ name, path }) => {
      const text = readFileSync(path, 'utf8');
      const [, frontmatter = ''] = text.split(/^---$/m);
      const { name: declared, description } = parse(frontmatter);
      expect(declared).toBe(name);
      expect(description.length).toBeGreaterThan(40);
      expect(description.length).toBeLessThanOrEqual(1024);
      for (const [, reference] of text.matchAll(/`(references\/[^`]+)`/g)) {
        expect(existsSync(join(dirname(path), reference!))).toBe(true);
      }
    },
  );

  it('[PRM-8] the capture reference can be loaded', () => {
    expect(readFileSync(capture_reference, 'utf8')).toMatch(/^# Capture/);
  });

  it('[PRM-8] every fact that a launch message may carry is explained in the service skill', () => {
    const text = readFileSync(packaged.service.path, 'utf8') + readFileSync(capture_reference, 'utf8');
    const previous = { session_uuid: 'u', harness: 'pi', cut_off: true, transcript: '/t' };
    const collaboration = { roster: { a: [] }, role_store: '/r' };
    const full = {
      ...plain,
      launch_id: '01KLAUNCH',
      previous,
      collaboration,
      standing_mode: 'ad-hoc',
      user_message: 'x',
    } as const;
    const messages = [buildPrompt(full), buildPrompt({ ...full, resumed: true }), buildPrompt(capture)];
    const labels = messages.flatMap((message) =>
      [...message.slice(PREAMBLE.length).matchAll(/^([A-Z][a-z]+(?: [A-Za-z-]+){0,2}:)/gm)].map(
        ([label]) => label,
      ),
    );
    expect(labels.length).toBeGreaterThan(10);
    for (const label of labels) expect(text).toContain(`\`${label.replace(/^Skill .*/, 'Skill ')}`);
  });
});
