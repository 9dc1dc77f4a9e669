import { isDeepStrictEqual } from 'node:util';
import { CodedError } from '../base/errors.ts';
import { didYouMean } from '../base/nearest-words.ts';
import {
  type Remote,
  type RemotesFile,
  remoteSchema,
  remotesFileSchema,
} from '../contract/operator-files.ts';
import type { RemoteAddress } from '../contract/remote-address.ts';
import { appendToList, setKey } from './json-splice.ts';
import { commitChange, digestOf, type OperatorChange, requireDigest } from './operator-change.ts';
import { withOperatorLock } from './operator-lock.ts';
import { parseOperatorText, readOperatorText } from './operator-text.ts';
import type { PathListOptions } from './path-lists.ts';
import { operatorFilePaths } from './paths.ts';
import type { Settings } from './settings.ts';

const EMPTY = '{\n  "version": 1,\n  "remotes": []\n}\n';

/**
 * Where the API of a remote answers; null where its entry does not say. A socket comes before a URL and a port, as no other
 * user of this machine can use it.
 */
export function remoteAddress({
  socket,
  url,
  port,
}: Pick<Remote, 'socket' | 'url' | 'port'>): RemoteAddress | null {
  if (socket !== undefined) return { socket };
  if (url === undefined && port === undefined) return null;
  return { url: (url ?? `http://127.0.0.1:${port}`).replace(/\/+$/, '') };
}

/** The result of a write of one remote. */
export type RemoteWrite = { file: string; names: string[]; changed: boolean; digest: string };

/**
 * Checks the text of a remotes file without reading or writing anything (OPF-2). Throws `invalid_config` naming the
 * place: a remote needs a unique name, and a socket, a url or a port.
 */
export function parseRemotes(file: string, text: string): RemotesFile {
  const document = parseOperatorText(file, text, remotesFileSchema);
  const refuse = (reason: string): never => {
    throw new CodedError('invalid_config', `${file}: ${reason}`, { details: { file } });
  };
  const names = document.remotes.map((remote) => remote.name);
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) refuse(`two remotes are named "${repeated}"; keep one of them`);
  const lost = document.remotes.find((remote) => remoteAddress(remote) === null);
  if (lost !== undefined)
    refuse(`the remote "${lost.name}" names neither a port nor a url nor a socket; give it one`);
  return document;
}

/** The configured remotes; none without a file. Throws `invalid_config`. */
export function readRemotes(settings: Settings): RemotesFile {
  const file = operatorFilePaths(settings).remotes;
  return parseRemotes(file, readOperatorText(file) ?? EMPTY);
}

/** That an entry has the name of this host, which no remote can have, and what to do; null where none has. */
export function ownEntryFault(
  settings: Settings,
  remotes: readonly Pick<Remote, 'name'>[],
  host: string | null,
): { what: string; mend: string } | null {
  if (!remotes.some(({ name }) => name === host)) return null;
  return {
    what: `the entry ${host} of ${operatorFilePaths(settings).remotes} has the name of this host and is not used`,
    mend: `give it the name of the host that is meant, or remove it with: svc remotes rm ${host}`,
  };
}

/** What of an entry says how its host is reached, and is stated as a whole. */
const STATED = new Set(['name', 'display', 'ssh', 'socket', 'url', 'port', 'remote_port', 'remote_socket']);

/**
 * An entry in the place of another one, of which it keeps what it does not state, such as `auth` (AUT-4); what it states as
 * `undefined` is removed.
 */
function replaced(before: Remote | undefined, remote: Remote): Remote {
  const kept = Object.entries(before ?? {}).filter(([key]) => !STATED.has(key));
  const missing = kept.filter(([key]) => !Object.hasOwn(remote, key));
  const stated = Object.entries(remote).filter(([, value]) => value !== undefined);
  return remoteSchema.parse(Object.fromEntries([...stated, ...missing]));
}

/**
 * Adds or replaces one remote; null removes it. Keeps the rest of the text; a file without remotes is removed (OPF-6).
 * Throws `not_found` if the remote to remove does not exist.
 */
export function changeRemote(
  settings: Settings,
  name: string,
  remote: Remote | null,
  options: PathListOptions = {},
): Promise<RemoteWrite> {
  const file = operatorFilePaths(settings).remotes;
  return withOperatorLock(
    file,
    () => {
      const { change, ...written } = planRemote(settings, name, remote, options);
      commitChange(change);
      return written;
    },
    options.owner,
  );
}

/** Plans `changeRemote` without lock or write. */
export function planRemote(
  settings: Settings,
  name: string,
  remote: Remote | null,
  options: PathListOptions = {},
): RemoteWrite & { change: OperatorChange } {
  const file = operatorFilePaths(settings).remotes;
  const before = readOperatorText(file);
  requireDigest(file, before, options.expected_digest);
  const text = before ?? EMPTY;
  const parsed = parseRemotes(file, text).remotes;
  const at = parsed.findIndex((one) => one.name === name);
  if (remote === null && at === -1)
    throw noRemoteCalled(
      name,
      parsed.map((one) => one.name),
    );
  const listed: unknown[] = JSON.parse(text).remotes;
  const entry = remote === null ? null : replaced(parsed[at], remote);
  const kept = listed.filter((_, index) => index !== at);
  const after = remote === null && kept.length === 0 ? null : textWith(text, listed, at, entry);
  const names = after === null ? [] : parseRemotes(file, after).remotes.map((one) => one.name);
  const changed = after !== before;
  return { file, names, changed, digest: digestOf(after), change: { file, before, after } };
}

function textWith(text: string, listed: readonly unknown[], at: number, remote: Remote | null): string {
  const remotes = remote === null ? listed.filter((_, index) => index !== at) : [...listed];
  if (remote !== null) remotes[at === -1 ? remotes.length : at] = remote;
  const meant = { ...JSON.parse(text), remotes };
  const spliced =
    remote === null
      ? setKey(text, ['remotes'], remotes)
      : at === -1
        ? appendToList(text, ['remotes'], remote)
        : setKey(text, ['remotes', at], remote);
  // The text is spliced by position. If the result does not parse to the intended value, the file is written from
  // scratch.
  return isDeepStrictEqual(JSON.parse(spliced), meant) ? spliced : `${JSON.stringify(meant, null, 2)}\n`;
}

/** The refusal of a name that `remotes.json` does not have. */
export function noRemoteCalled(name: string, known: readonly string[]): CodedError {
  const question = didYouMean(name, known);
  const said = `remotes.json has no remote "${name}"`;
  return new CodedError(
    'not_found',
    question === '' ? `${said}; see: svc remotes list` : `${said}.${question}`,
    {
      details: { name },
    },
  );
}
