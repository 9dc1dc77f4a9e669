import { expect, it } from 'vitest';
import { fiberPath } from '../../../board/src/lib/paths.ts';

/** The path that a browser asks the daemon for. */
const asked = (path: string) => new URL(`/api/v1${path}`, 'http://harbor').pathname;

it.each([
  ['gauges', '/api/v1/fibers/gauges'],
  ['work/loader', '/api/v1/fibers/work%2Floader'],
  ['../../state', '/api/v1/fibers/..%2F..%2Fstate'],
  ['work/../loader', '/api/v1/fibers/work%2F..%2Floader'],
  ['a b?c#d%e', '/api/v1/fibers/a%20b%3Fc%23d%25e'],
])('[FIB-1] asks for the fiber %s and for no other route', (reference, path) => {
  expect(asked(fiberPath(reference))).toBe(path);
});

it('names the host of a fiber', () => {
  expect(fiberPath('work/loader', 'far')).toBe('/fibers/work%2Floader?origin=far');
});
