import { expect, it } from 'vitest';
import { type PlacedRow, placeWords } from '../../../../src/cli/verbs/status/place.ts';
import { fiberAnswer, runningRow } from '../../answers.ts';

const NOW = Date.parse('2025-11-21T14:00:00Z');
const svc = { kind: 'oneshot', host: 'host-a' } as const;
const row = (over: object) => fiberAnswer({ svc, status: 'active', ...over }) as PlacedRow;
const runtime = runningRow();

it.each<[string, PlacedRow, string | null]>([
  ['with a worker', row({ runtime }), 'running'],
  ['whose worker waits for a person', row({ runtime: { ...runtime, phase: 'waiting' } }), 'needs you'],
  ['that is due', row({}), null],
  ['that is held', row({ held: 'killed' }), 'cannot start'],
  [
    'of a role that waits for its time',
    row({ svc: { ...svc, kind: 'standing' }, gate: 'due', next_due_at: 1 }),
    'on its schedule',
  ],
  ['that is closed while its worker runs', row({ status: 'closed', runtime }), null],
  ['that is a draft', row({ status: 'open' }), null],
])(
  'a list says of a fiber %s what svc status says of it, and leaves the rest to its document',
  (_what, one, words) => {
    expect(placeWords(one, 'host-a', NOW)).toBe(words);
  },
);
