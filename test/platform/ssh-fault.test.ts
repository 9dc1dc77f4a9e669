import { describe, expect, it } from 'vitest';
import { sshFault } from '../../src/platform/ssh-fault.ts';

const BY_HAND = 'ssh -p 22 -- b-login';

describe('why ssh failed', () => {
  it.each([
    [
      '@@@\n@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\nHost key verification failed.',
      /another one/,
      /ssh-keygen -R/,
    ],
    [
      'No ED25519 host key is known for b and you have requested strict checking.\nHost key verification failed.',
      /not known here yet/,
      /connect once by hand .*ssh -p 22 -- b-login/,
    ],
    ['me@b: Permission denied (publickey).', /refuses the key/, /ssh-copy-id b-login/],
    ['ssh: Could not resolve hostname b: Name or service not known', /name is not known/, /HostName/],
    [
      'bind: Address already in use\nCould not request local forwarding.',
      /near end/,
      /another socket or port/,
    ],
    ['ssh: connect to host b port 22: Connection refused', /nothing takes SSH/, /SSH server runs/],
    ['ssh: connect to host b port 22: Connection timed out', /does not answer/, /switched on/],
    ['Timeout, server b not responding.', /does not answer/, /switched on/],
    [
      'Bad owner or permissions on /home/me/.ssh/config',
      /trusts one of its own files not/,
      /rights of other users/,
    ],
    ['\nsomething new\n\n', /^something new$/, /by hand: ssh -p 22/],
    ['', /without a word/, /by hand/],
  ])('is told in words with the fix: %j', (said, why, mend) => {
    const fault = sshFault(said, 'b-login', BY_HAND);
    expect(fault.why).toMatch(why);
    expect(fault.mend).toMatch(mend);
  });
});
