import type { CommandFacts } from '../../command-line/command-table.ts';
import type { Completes } from '../../command-line/options.ts';
import { FOR_PROGRAMS } from '../../command-line/verb-table.ts';

/** The completion script for fish. */
export function fishScript(commands: readonly CommandFacts[]): string {
  const listed = commands.filter((command) => command.group !== FOR_PROGRAMS);
  const firsts = [...new Map(listed.map((command) => [command.path[0]!, command])).values()];
  return [
    '# completion of svc for fish\n',
    'complete -c svc -f\n',
    ...firsts.map((command) =>
      line(
        '__fish_use_subcommand',
        `-a ${command.path[0]}`,
        command.path.length > 1 ? '' : command.verb.summary,
      ),
    ),
    ...listed.flatMap(linesOf),
  ].join('');
}

function linesOf(command: CommandFacts): string[] {
  const [verb, second] = command.path;
  const inVerb = `__fish_seen_subcommand_from ${verb}`;
  const here = second === undefined ? inVerb : `${inVerb}; and __fish_seen_subcommand_from ${second}`;
  const own = second === undefined ? [] : [line(inVerb, `-a ${second}`, command.verb.summary)];
  const options = command.options.map((option) => {
    const names = option.names
      .map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`))
      .join(' ');
    const value = option.value === null ? '' : ` -r${wordsOf(option.completes)}`;
    return line(here, `${names}${value}`, option.description);
  });
  const values = wordsOf(command.arguments[0]?.completes ?? null);
  return [...own, ...options, ...(values === '' ? [] : [line(here, values.trim(), '')])];
}

function wordsOf(completes: Completes | null): string {
  if (completes === null) return '';
  if (completes === 'folders') return ` -a '(__fish_complete_directories)'`;
  if (typeof completes !== 'string') return ` -a '${completes.join(' ')}'`;
  return ` -a '(command svc completion ${completes} (commandline -ct) 2>/dev/null)'`;
}

function line(condition: string, what: string, description: string): string {
  const told = description === '' ? '' : ` -d '${description.replace(/[\\']/g, '\\$&')}'`;
  return `complete -c svc -n '${condition}' ${what}${told}\n`;
}
