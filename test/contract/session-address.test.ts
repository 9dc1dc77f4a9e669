import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HARNESS_NAMES } from '../../src/contract/harness-name.ts';
import { looksLikeAddress, parseAddress, printAddress } from '../../src/contract/session-address.ts';

const name = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,60}$/);
const address = fc.record({ host: name, harness: fc.constantFrom(...HARNESS_NAMES), native_id: name });

describe('the address of a session', () => {
  it('[WRK-8] is read back as it was printed', () => {
    fc.assert(
      fc.property(address, (one) => {
        expect(parseAddress(printAddress(one))).toEqual(one);
      }),
    );
  });

  it.each([
    ['claude-code', 'claude'],
    ['CLAUDE', 'claude'],
    ['openai-codex', 'codex'],
    ['pi-coding-agent', 'pi'],
  ])('[MSG-1] takes the registry spelling %s as %s', (spelling, harness) => {
    expect(parseAddress(`svc://host-a/${spelling}/s-1`)).toEqual({
      host: 'host-a',
      harness,
      native_id: 's-1',
    });
  });

  it.each([
    '',
    's-1',
    'http://host-a/claude/s-1',
    'svc://host-a/claude',
    'svc://host-a/claude/',
    'svc://host-a/claude/a/b',
    'svc://host a/claude/s-1',
    'svc:///claude/s-1',
    'svc://host-a/claude/../s-1',
    'svc://host-a/claude/s-1]\ntext',
  ])('[ERR-7] %j is an invalid_address', (text) => {
    expect(() => parseAddress(text)).toThrowError(expect.objectContaining({ code: 'invalid_address' }));
  });

  it('[ERR-7] with a harness that nobody knows is an unsupported_harness', () => {
    expect(() => parseAddress('svc://host-a/gemini/s-1')).toThrowError(
      expect.objectContaining({ code: 'unsupported_harness' }),
    );
  });

  it('never ends in another error, whatever the text', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.string().map((text) => `svc://${text}`),
        ),
        (text) => {
          looksLikeAddress(text);
          try {
            parseAddress(text);
          } catch (error) {
            expect(['invalid_address', 'unsupported_harness']).toContain((error as { code: string }).code);
          }
        },
      ),
    );
  });
});
