import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEATH_SCREEN_LIMITS, deathSchema } from '../../../src/contract/fiber.ts';
import { type DeathFacts, deathOf } from '../../../src/dispatch/end/death.ts';

const run = { run_id: 'run-1', agent: 'opus', fiber_id: 'work/loader', project_dir: '/srv/dev' };

function died(change: Partial<DeathFacts>) {
  const exit = { code: 1, signal: null };
  return deathOf({ run, reason: 'exited', detail: null, exit, screen: null, at: 5, ...change });
}

describe('why a worker died', () => {
  it.each([
    ['exit code 2', { code: 2, signal: null }, /by hand in \/srv\/dev/],
    ['exit code 0', { code: 0, signal: null }, /the next start is fresh/],
    ['exit code 127', { code: 127, signal: null }, /not installed/],
    ['exit code 126', { code: 126, signal: null }, /not executable/],
    ['SIGKILL', { code: null, signal: 'SIGKILL' }, /out of memory/],
    ['SIGTERM', { code: null, signal: 'SIGTERM' }, /somebody ended it/],
    ['SIGSEGV', { code: null, signal: 'SIGSEGV' }, /crashed/],
    ['SIGUSR1', { code: null, signal: 'SIGUSR1' }, /what sent SIGUSR1/],
    ['exit code 0 after SIGHUP', { code: 0, signal: 'SIGHUP' }, /somebody ended it/],
  ])('is told as %s, with the likely fix', (message, exit, mend) => {
    expect(died({ exit })).toMatchObject({ message, mend: expect.stringMatching(mend), ...exit });
  });

  it.each([
    ['Invalid API key · Please run /login', /not logged in/],
    ["error: unexpected argument '--modle' found", /"args" of its agent/],
    ['The model `opus-9` does not exist', /svc set-model/],
    ['write: No space left on device', /disk is full/],
    ['FATAL ERROR: JavaScript heap out of memory', /ran out of memory/],
    ['getaddrinfo ENOTFOUND api.example.com', /network and the proxy/],
  ])('is guessed from what the screen says: %s', (screen, mend) => {
    expect(died({ screen })).toMatchObject({ mend: expect.stringMatching(mend), screen });
  });

  it.each(['agent_missing', 'project_dir_missing', 'server_lost', 'reboot', 'session_gone'])(
    'has words and a fix where nothing of an exit is known: %s',
    (reason) => {
      const death = died({ reason, exit: null });
      expect(death).toMatchObject({ reason, code: null, signal: null });
      expect(death?.message).not.toBe('');
      expect(death?.mend).not.toBe('');
    },
  );

  it('says that the record of an end cannot be read, and not that there is none', () => {
    const death = died({ reason: 'session_gone', exit: null, detail: 'EIO: i/o error' });
    expect(death?.message).toBe('how it ended cannot be read (EIO: i/o error)');
    expect(death?.mend).toContain('svc doctor');
  });

  it.each(['kill', 'handoff', 'forced_start'])('is nothing to tell of an end by %s', (reason) => {
    expect(died({ reason })).toBeNull();
  });

  it('shows the last lines that hold text, whatever a program wrote, and never more than the limits', () => {
    expect(died({ screen: 'one\n\n  \n two \n\n\n' })?.screen).toBe('one\n two');
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 4_000 }), fc.nat(40), (text, times) => {
        const death = died({ screen: `${text}\n`.repeat(times) });
        const lines = (death?.screen ?? '').split('\n');
        expect(lines.length).toBeLessThanOrEqual(DEATH_SCREEN_LIMITS.lines);
        expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(
          DEATH_SCREEN_LIMITS.line_chars,
        );
        expect(deathSchema.parse(JSON.parse(JSON.stringify(death)))).toEqual(death);
      }),
    );
  });
});
