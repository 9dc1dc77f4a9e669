import { describe, expect, it } from 'vitest';
import { FIBER_KINDS, FIBER_STATUSES } from '../../src/contract/fiber.ts';
import { TRANSITION_TARGETS, type TransitionTarget } from '../../src/contract/http/lifecycle.ts';
import { parseDocument } from '../../src/fibers/document.ts';
import { editDocument } from '../../src/fibers/edit.ts';
import { readFrontmatter, splitFrontmatter } from '../../src/fibers/frontmatter.ts';
import { oldFields } from '../../src/fibers/undo.ts';
import { planConclude } from '../../src/lifecycle/run-transitions.ts';
import { planTransition } from '../../src/lifecycle/transition.ts';
import { NOW, ULID } from '../fixtures/fibers/fiber-document.ts';

const FACTS = { this_host: 'host-a', this_zone: 'UTC', new_uid: ULID, running: false };
const KINDS = [null, ...FIBER_KINDS] as const;
type Kind = (typeof KINDS)[number];
type Stand = { status: string; tempered: boolean | undefined };

/** Where each target leaves a document that is at rest; the table of the columns. */
const RESULT: Record<Exclude<TransitionTarget, 'inFlight'>, (kind: Kind) => Stand> = {
  drafts: () => ({ status: 'open', tempered: undefined }),
  awaitingReview: () => ({ status: 'closed', tempered: undefined }),
  composted: () => ({ status: 'closed', tempered: false }),
  tempered: (kind) =>
    kind === 'standing'
      ? { status: 'active', tempered: undefined }
      : kind === 'pinned'
        ? { status: 'open', tempered: undefined }
        : { status: 'closed', tempered: true },
};

const rows = KINDS.flatMap((kind) =>
  FIBER_STATUSES.flatMap((status) =>
    [undefined, true, false].flatMap((tempered) =>
      [true, false].flatMap((running) =>
        TRANSITION_TARGETS.map((target) => ({ kind, status, tempered, running, target })),
      ),
    ),
  ),
);

function textOf(row: (typeof rows)[number]): string {
  const verdict = row.tempered === undefined ? '' : `tempered: ${row.tempered}\n`;
  const block =
    row.kind === null
      ? ''
      : `svc:\n  kind: ${row.kind}\n  host: host-a\n  project_dir: /srv\n${row.kind === 'standing' ? "  schedule: '@daily'\n" : ''}  runtime: {dispatched_at: 2026-01-01T00:00:00.000Z}\n`;
  return `---\nid: ${ULID}\nname: A\nstatus: ${row.status}\n${verdict}outcome: Kept.\n${block}---\nBody.\n`;
}
const read = (text: string) =>
  parseDocument(Buffer.from(text), { store: '/s', path: '/s/.fibers/a/a.md', relativePath: 'a/a.md' });

describe('planTransition', () => {
  it('[WPL-2] the table has every combination', () => {
    expect(rows).toHaveLength(4 * 3 * 3 * 2 * 5);
  });

  it.each(rows)('[WPL-2] [LIF-8] $kind $status tempered=$tempered running=$running to $target', (row) => {
    const { kind, target, running } = row;
    let text = textOf(row);
    const document = read(text);
    const move = (facts: typeof FACTS) => planTransition(read(text), target, facts, NOW);
    if (target === 'inFlight') {
      if (kind === null) {
        expect(() => move({ ...FACTS, running })).toThrow(expect.objectContaining({ code: 'arm_refused' }));
        return;
      }
      const armed = row.status === 'active' && row.tempered === undefined;
      const plan = move({ ...FACTS, running });
      expect(plan).toMatchObject(
        running
          ? { action: armed ? 'none' : 'resume', end_worker: false, dispatch: false }
          : { action: 'dispatch', end_worker: false, dispatch: true, edit: null },
      );
      if (plan.edit !== null) {
        text = editDocument(text, plan.edit, NOW);
        expect(read(text)).toMatchObject({ status: 'active', outcome: 'Kept.' });
        expect(read(text).tempered).toBeUndefined();
      }
      return;
    }
    const first = move({ ...FACTS, running });
    expect(first.end_worker).toBe(running);
    expect(first.dispatch).toBe(false);
    // The worker’s end writes what a role’s end writes, and the rest is planned on that.
    if (running) {
      const concluded = planConclude(document, { faultless: false }, NOW);
      if (concluded !== null) text = editDocument(text, concluded, NOW);
    }
    const { edit } = running ? move(FACTS) : first;
    const before = read(text);
    if (edit !== null) text = editDocument(text, edit, NOW);
    const after = read(text);
    expect({ status: after.status, tempered: after.tempered }).toEqual(RESULT[target](kind));
    expect(after.outcome).toBe('Kept.');
    const there = before.status === after.status && before.tempered === after.tempered;
    if (there) expect(edit).toBeNull();
    if (!running) expect(first.action === 'none').toBe(there);
    if (target === 'tempered' && kind === 'standing' && !there)
      expect(after.svc?.runtime?.handed_off_at).toBe(new Date(NOW).toISOString());
    // Once there, the same move is nothing.
    if (!running) expect(move(FACTS).action).toBe('none');
  });
});

describe('oldFields', () => {
  const STAMPS = ['', 'closed-at: 2026-02-03T04:05:06.000Z\n', "closed-at: '2026-02-03'  # by hand\n"];
  const moves = rows
    .filter(({ running, target }) => !running && target !== 'inFlight')
    .flatMap((row) => STAMPS.map((stamp) => ({ ...row, stamp })));
  const fieldsOf = (text: string) => {
    const { 'updated-at': _, ...fields } = readFrontmatter(splitFrontmatter(text)?.yaml ?? '').data;
    return fields;
  };

  it.each(moves)(
    '[WPL-2] put back every field, stamps included: $kind $status tempered=$tempered to $target, $stamp',
    ({ stamp, ...row }) => {
      const before = textOf(row).replace('outcome:', `horizon: stashed\ndue: 2026-12-24\n${stamp}outcome:`);
      const { edit } = planTransition(read(before), row.target, FACTS, NOW);
      if (edit === null) return;
      const after = editDocument(before, edit, NOW);
      const restored = editDocument(after, oldFields(before, after), NOW + 60_000);
      expect(fieldsOf(restored)).toEqual(fieldsOf(before));
    },
  );

  it('put back a map whose keys have dots as a whole, and take away what a write added', () => {
    const before = `---\nid: ${ULID}\nname: A\nnotes:\n  a.b: 1\n---\n`;
    const after = editDocument(before, { set: { notes: { 'a.b': 2 }, 'svc.agent': 'one' } }, NOW);
    expect(oldFields(before, after)).toEqual({ set: { notes: { 'a.b': 1 } }, unset: ['svc'] });
    expect(fieldsOf(editDocument(after, oldFields(before, after), NOW))).toEqual(fieldsOf(before));
  });
});
