import { statSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findBridgeUrl } from '../../../src/harness/claude/bridge-url.ts';
import { type ScratchFolder, scratchFolder } from '../../kit/scratch-folder.ts';

let scratch: ScratchFolder;
beforeEach(() => {
  scratch = scratchFolder();
});
afterEach(() => scratch.remove());

const URL_OF = (id: string) => `https://claude.ai/code/session_${id}`;
const status = (url: unknown) => ({ type: 'system', subtype: 'bridge_status', content: 'active', url });
const said = (content: string) => ({ type: 'user', message: { role: 'user', content } });
const lines = (records: unknown[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('');

function find(text: string, options: { seen?: number; to?: number } = {}): string | null {
  const path = scratch.write('t.jsonl', text);
  return findBridgeUrl(path, options.seen ?? 0, options.to ?? statSync(path).size);
}

describe('the bridge address of a transcript', () => {
  it('[RPL-14] [REC-6] is the last one recorded', () => {
    expect(find(lines([said('hi')]))).toBeNull();
    expect(find('')).toBeNull();
    expect(find(lines([status(URL_OF('a')), said('hi'), status(URL_OF('b')), said('bye')]))).toBe(
      URL_OF('b'),
    );
    expect(find(lines([status(URL_OF('a')), { type: 'bridge-session', bridgeSessionId: 'cse_9z' }]))).toBe(
      URL_OF('9z'),
    );
    expect(find(lines([status(URL_OF('a')), { type: 'bridge-session', bridgeSessionId: '' }]))).toBe(
      URL_OF('a'),
    );
  });

  it('[RPL-14] is neither an address of another host nor one that is only quoted', () => {
    for (const url of [
      'http://claude.ai/code/session_a',
      'https://claude.ai.evil.example/code/session_a',
      'https://user@claude.ai/code/session_a',
      'https://claude.ai:8443/code/session_a',
      'javascript:alert(1)',
      'https://claude.ai/\\evil',
      7,
      null,
    ])
      expect(find(lines([status(url)])), String(url)).toBeNull();
    const quoted = said(JSON.stringify(status(URL_OF('quoted'))));
    expect(find(lines([status(URL_OF('a')), quoted, said('"bridge-session" "bridge_status"')]))).toBe(
      URL_OF('a'),
    );
    expect(find(lines([{ type: 'bridge-session', bridgeSessionId: '../../x' }]))).toBeNull();
  });

  it('[RPL-14] [P20] is found anywhere in a long transcript', () => {
    const filler = lines([said('x'.repeat(5_000))]);
    const record = lines([status(URL_OF('deep'))]);
    for (const before of [0, 1, 104, 209, 210, 400])
      expect(find(filler.repeat(before) + record + filler.repeat(450 - before)), `${before}`).toBe(
        URL_OF('deep'),
      );
    const marks = `${JSON.stringify(said('"bridge_status"'.repeat(200_000)))}\n`;
    const began = performance.now();
    expect(find(record + marks)).toBe(URL_OF('deep'));
    expect(performance.now() - began).toBeLessThan(2_000);
  });

  it('[RPL-23] is searched only in the added part, and in a line that was incomplete', () => {
    const first = lines([status(URL_OF('a'))]);
    const padding = lines(Array.from({ length: 40 }, () => said('x'.repeat(1_000))));
    expect(find(first + padding, { seen: first.length + padding.length })).toBeNull();
    const torn = first + padding + lines([status(URL_OF('b'))]);
    expect(find(torn, { to: torn.length - 5 })).toBe(URL_OF('a'));
    expect(find(torn, { seen: torn.length - 5 })).toBe(URL_OF('b'));
  });

  it('[RPL-14] is null for a file that was removed', () => {
    expect(findBridgeUrl(`${scratch.path}/none`, 0, 100)).toBeNull();
  });
});
