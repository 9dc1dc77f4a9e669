import { shellLine } from '../base/shell-word.ts';

/**
 * Runs on the other host for as long as the connection lasts. It says how many bytes the copy has, then takes orders: a line
 * with an offset and a length, then so many bytes, after which it says the size again. Bytes are written at their offset,
 * so that what an earlier, cut connection delivers late is written where the same bytes are anyway, and only where the copy
 * ends, so that they overwrite nothing of others and leave no gap. A copy that is gone ends it. It is POSIX shell with POSIX
 * tools, since any host may be there; `dd` reads byte by byte, since it must take no byte of the next order.
 */
const FAR_END = `set -e
umask 077
case "$1" in "~/"*) file="$HOME/\${1#??}" ;; *) file="$1" ;; esac
mkdir -p -- "$(dirname -- "$file")"
[ -e "$file" ] || : >"$file"
size() { wc -c <"$file"; }
size
while read -r offset length; do
  now=$(size)
  to=/dev/null
  [ "$((now))" -ne "$offset" ] || to="$file"
  dd of="$to" bs=1 seek="$offset" count="$length" conv=notrunc 2>/dev/null || {
    echo "$file cannot be written" >&2
    exit 1
  }
  size
done`;

/** Options of the connection: it asks nobody, is its own, and ends when the other host is gone for a minute. */
const SSH_OPTIONS = [
  ...['-T', '-S', 'none', '-o', 'BatchMode=yes', '-o', 'ControlMaster=no', '-o', 'ClearAllForwardings=yes'],
  ...['-o', 'ConnectTimeout=15', '-o', 'ServerAliveInterval=15', '-o', 'ServerAliveCountMax=3'],
];

/** Where a transcript is copied to. `path` is absolute or begins with `~/`; `flags` are those of the remote for `ssh`. */
export type MirrorTarget = { alias: string; flags: readonly string[]; path: string };

/** Arguments of `ssh` that keep a copy of a file there. The far shell reads nothing into the path. */
export function mirrorArgs({ alias, flags, path }: MirrorTarget): string[] {
  return [...SSH_OPTIONS, ...flags, '--', alias, shellLine(['sh', '-c', FAR_END, 'sh', path])];
}

/** The command that copies a file there as a whole. */
export function scpArgv(file: string, { alias, flags, path }: MirrorTarget): string[] {
  // Only the flag of the port has another letter than that of ssh.
  const own = flags.map((flag) => flag.replace(/^-p(?=\d|$)/, '-P'));
  return ['scp', ...own, '--', file, `${alias}:${path.replace(/^~\//, '')}`];
}

/** Bytes that are sent in one order at most. */
const ORDER_BYTES = 64 * 1024;

/** What to do about a copy: send so many bytes from an offset on, nothing, or leave a file that is not ours. */
export type MirrorStep =
  | { kind: 'send'; offset: number; length: number }
  | { kind: 'done' }
  | { kind: 'refused'; why: string };

/**
 * The next step of a copy that has `theirs` bytes of our `ours`, of which it had `arrived` before, and was sent those up to
 * `sent`. One that is empty begins anew. Any other size is not of our making.
 */
export function mirrorStep({
  ours,
  theirs,
  arrived,
  sent,
}: {
  ours: number;
  theirs: number;
  arrived: number;
  sent: number;
}): MirrorStep {
  if (theirs > 0 && sent === 0)
    return { kind: 'refused', why: 'there is a file of that name already, which is left as it is' };
  if (theirs > 0 && (theirs < arrived || theirs > sent))
    return { kind: 'refused', why: 'something else changed the file there, which is left as it is' };
  if (theirs > ours)
    return { kind: 'refused', why: 'the transcript here was cut, and the file there has more of it' };
  if (theirs === ours) return { kind: 'done' };
  return { kind: 'send', offset: theirs, length: Math.min(ours - theirs, ORDER_BYTES) };
}

/** The sizes that the far end has said in full; what is left over waits for more. */
export function readSizes(text: string): { sizes: number[]; rest: string } {
  const lines = text.split('\n');
  const rest = lines.pop() ?? '';
  return { sizes: lines.flatMap((line) => (/^\s*\d+\s*$/.test(line) ? [Number(line)] : [])), rest };
}
