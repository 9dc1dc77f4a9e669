import { expect, it } from 'vitest';
import { mayAttach } from '../../src/mux/control-safety.ts';
import { ANCHOR_SESSION } from '../../src/mux/session-name.ts';

const anchor = { name: ANCHOR_SESSION };
const worker = { name: 'work' };

it.each([
  ['auto', '3.3a', [anchor], true],
  ['auto', '3.3a', [], true],
  ['auto', '3.3a', [anchor, worker], false],
  ['auto', '3.6', [worker], false],
  ['auto', '3.7', [worker], true],
  ['auto', '3.10', [worker], true],
  ['auto', '4.0', [worker], true],
  ['auto', '2.9', [worker], false],
  ['auto', 'next-3.7', [worker], false],
  ['auto', 'master', [worker], false],
  ['auto', null, [worker], false],
  ['always', '3.3a', [worker], true],
  ['never', '3.7', [], false],
] as const)('by policy %s, server %s holding %j: %s', (policy, version, sessions, may) => {
  expect(mayAttach({ policy, version, sessions })).toBe(may);
});
