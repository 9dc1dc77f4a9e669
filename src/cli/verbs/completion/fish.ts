import type { CommandFacts } from '../../command-line/command-table.ts';
import type { Completes } from '../../command-line/options.ts';
import { FOR_PROGRAMS } from '../../command-line/verb-table.ts';

/** What the lines of `complete` ask; `svc demo` takes the verbs that `svc` takes. */
const FUNCTIONS = `# completion of svc for fish
function __svc_is_demo
    set -l words (commandline -opc) (commandline -ct)
    test "$words[2]" = demo; and test (count $words) -gt 2; and not string match -q -- '-*' "$words[3]"
end
function __svc_words
    set -l words (commandline -opc)
    set -e words[1]
    __svc_is_demo; and set -e words[1]
    count $words >/dev/null; and printf '%s\\n' $words
end
function __svc_at
    set -l words (__svc_words)
    set -l last (count $argv)
    test (count $words) -ge $last; and test "$words[1..$last]" = "$argv"
end
function __svc_next
    test (count (__svc_words)) -eq (count $argv); or return 1
    test (count $argv) -eq 0; or __svc_at $argv
end
function __svc_argument
    set -l valued (string split ' ' -- $argv[2])
    set -l verb $argv[3..-1]
    __svc_at $verb; or return 1
    set -l words (__svc_words)
    set -e words[1..(count $verb)]
    set -l position 0
    set -l is_value false
    for word in $words
        if $is_value
            set is_value false
        else if string match -q -- '-*' $word
            contains -- $word $valued; and set is_value true
        else
            set position (math $position + 1)
        end
    end
    test $position -eq $argv[1]; and not $is_value
end
function __svc_names
    set -l demo
    __svc_is_demo; and set demo demo
    command svc $demo completion $argv (commandline -ct) 2>/dev/null
end
complete -c svc -f
`;

/** The completion script for fish. */
export function fishScript(commands: readonly CommandFacts[]): string {
  const listed = commands.filter((command) => command.group !== FOR_PROGRAMS);
  const firsts = [...new Map(listed.map((command) => [command.path[0]!, command])).values()];
  return [
    FUNCTIONS,
    ...['__svc_next', '__svc_next help'].flatMap((condition) =>
      firsts.map(({ path, verb }) => line(condition, `-a ${path[0]}`, path.length > 1 ? '' : verb.summary)),
    ),
    line('__svc_next', '-a help', 'Show the help of a verb'),
    ...listed.flatMap(linesOf),
  ].join('');
}

function linesOf(command: CommandFacts): string[] {
  const path = command.path.join(' ');
  const [verb, second] = command.path;
  const own = second === undefined ? [] : [line(`__svc_next ${verb}`, `-a ${second}`, command.verb.summary)];
  const options = command.options.map(({ names, value, completes, description }) => {
    const flags = names.map((name) =>
      name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`,
    );
    const given = value === null ? '' : ` -r${wordsOf(completes)}`;
    return line(`__svc_at ${path}`, `${flags.join(' ')}${given}`, description);
  });
  const valued = command.options.filter(({ value }) => value !== null).flatMap(({ names }) => names);
  const values = command.arguments.flatMap(({ completes }, position) =>
    completes === null
      ? []
      : [line(`__svc_argument ${position} "${valued.join(' ')}" ${path}`, wordsOf(completes).trim(), '')],
  );
  return [...own, ...options, ...values];
}

function wordsOf(completes: Completes | null): string {
  if (completes === null) return '';
  if (completes === 'folders') return ` -a '(__fish_complete_directories)'`;
  if (typeof completes !== 'string') return ` -a '${completes.join(' ')}'`;
  return ` -a '(__svc_names ${completes})'`;
}

function line(condition: string, what: string, description: string): string {
  const told = description === '' ? '' : ` -d '${description.replace(/[\\']/g, '\\$&')}'`;
  return `complete -c svc -n '${condition}' ${what}${told}\n`;
}
