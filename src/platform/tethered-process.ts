/**
 * Runs its arguments as a program without input, and ends it as soon as its own standard input is closed: whoever holds the
 * other end may be killed, and nothing is left. Its exit code is that of the program.
 */
const TETHER = `exec 3<&0
"$@" < /dev/null 3<&- & program=$!
{ read -r _ <&3; kill "$program"; } > /dev/null 2>&1 & watch=$!
exec 3<&-
wait "$program"; code=$?
kill "$watch" 2> /dev/null
exit "$code"`;

/** The command that runs a program which ends with the process that holds its standard input. */
export function tethered(argv: readonly string[]): { file: string; args: string[] } {
  return { file: '/bin/sh', args: ['-c', TETHER, 'sh', ...argv] };
}
