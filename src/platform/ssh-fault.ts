import { inOneLine } from './failure-words.ts';

/** Why a connection by SSH failed, and how to fix it. */
export type SshFault = { why: string; mend: string };

/** What the sentences of OpenSSH mean, the most telling first; `by hand` is the command that connects to the host. */
const FAULTS: readonly (readonly [
  said: RegExp,
  why: string,
  mend: (alias: string, by_hand: string) => string,
])[] = [
  [
    /REMOTE HOST IDENTIFICATION HAS CHANGED|Host key for .* has changed/,
    'its host key is another one than before: it was reinstalled, or somebody intercepts the connection',
    (alias) =>
      `ask whoever runs it for the fingerprint of its key; where it is right, run ssh-keygen -R with the name that ssh -G ${alias} shows as hostname, and connect once by hand`,
  ],
  [
    /Host key verification failed|No .* host key is known|can't be established/,
    'its host key is not known here yet',
    (_, by_hand) => `connect once by hand and compare the key that it shows: ${by_hand}`,
  ],
  [
    /Permission denied|Too many authentication failures/,
    'it refuses the key of this user',
    (alias, by_hand) =>
      `put the key there with ssh-copy-id ${alias}, or load it with ssh-add; then this works without a question: ${by_hand}`,
  ],
  [
    /Could not resolve hostname/,
    'its name is not known',
    (alias) => `write the address of ${alias} as HostName into ~/.ssh/config, or correct the alias`,
  ],
  [
    /cannot listen to port|Could not request local forwarding|unix_listener|Address already in use/,
    'the near end of the tunnel cannot be opened',
    () => 'end the program that holds it, or give the entry another socket or port',
  ],
  [
    /Connection refused/,
    'nothing takes SSH connections there',
    (_, by_hand) => `see that its SSH server runs and that the port is right: ${by_hand}`,
  ],
  [
    /timed out|No route to host|Network is unreachable|Connection closed|Connection reset|not responding/,
    'it does not answer',
    (_, by_hand) => `see that it is switched on and the network leads there: ${by_hand}`,
  ],
  [
    /Bad owner or permissions|bad permissions|UNPROTECTED PRIVATE KEY/,
    'ssh trusts one of its own files not, since other users can change or read it',
    () => 'take the rights of other users from the file that the message names',
  ],
];

/** What of the words of `ssh` a person needs; `by_hand` is the command that they can try themselves. */
export function sshFault(stderr: string, alias: string, by_hand: string): SshFault {
  const found = FAULTS.find(([said]) => said.test(stderr));
  if (found === undefined)
    return {
      why: inOneLine(stderr) || 'ssh failed without a word',
      mend: `try it by hand: ${by_hand}`,
    };
  const [, why, mend] = found;
  return { why, mend: mend(alias, by_hand) };
}
