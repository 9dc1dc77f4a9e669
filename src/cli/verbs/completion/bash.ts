import type { CommandFacts } from '../../command-line/command-table.ts';
import type { Completes } from '../../command-line/options.ts';
import { FOR_PROGRAMS } from '../../command-line/verb-table.ts';

/**
 * The completion script for bash; the only program it runs is `svc completion fibers|agents`. It also serves zsh
 * through `bashcompinit`, so it uses only syntax that both shells share.
 */
export function bashScript(commands: readonly CommandFacts[]): string {
  const listed = commands.filter((command) => command.group !== FOR_PROGRAMS);
  const verbs = [...new Set(listed.map((command) => command.path[0]!)), 'help'];
  const parents = [...new Set(listed.filter(({ path }) => path.length > 1).map(({ path }) => path[0]!))];
  return `# completion of svc for bash, and for zsh through bashcompinit
# shellcheck shell=bash disable=SC2207 # neither zsh nor bash 3 has mapfile
_svc() {
  local cur prev verb place words valued
  local asked=(svc) first=1 at position=0 typed home=""
  COMPREPLY=()
  cur="\${COMP_WORDS[COMP_CWORD]}"
  prev="\${COMP_WORDS[COMP_CWORD-1]}"
  if [[ "\${COMP_WORDS[1]}" == demo && $COMP_CWORD -gt 1 && "\${COMP_WORDS[2]}" != -* ]]; then
    first=2
    asked=(svc demo)
  fi
  if [[ $COMP_CWORD -eq $first ]]; then
    COMPREPLY=( $(compgen -W "${verbs.join(' ')}" -- "$cur") )
    return 0
  fi
  verb="\${COMP_WORDS[first]}"
  if [[ "$verb" == help ]]; then
    COMPREPLY=( $(compgen -W "${verbs.join(' ')}" -- "$cur") )
    return 0
  fi
  case "$verb" in
${parents.map((parent) => secondWords(parent, listed)).join('')}  esac
  words=""
  valued=" "
  case "$verb" in
${listed.map(optionCase).join('')}    *) return 0 ;;
  esac
  for (( at = first + 1; at < COMP_CWORD; at++ )); do
    case "\${COMP_WORDS[at]}" in
      -*) [[ "$valued" == *" \${COMP_WORDS[at]} "* ]] && at=$(( at + 1 )) ;;
      *) position=$(( position + 1 )) ;;
    esac
  done
  # Names from disk are data: they never go through an expansion, and are quoted for the command line.
  typed="\${cur//\\\\/}"
  place=""
  if [[ "$valued" == *" $prev "* ]]; then
    case "$verb $prev" in
${listed.flatMap(valueCases).join('')}      *) return 0 ;;
    esac
  elif [[ "$cur" == -* ]]; then
    COMPREPLY=( $(compgen -W "$words" -- "$cur") )
    return 0
  else
    case "$verb $position" in
${listed.flatMap(argumentCases).join('')}      *) return 0 ;;
    esac
  fi
  case "$place" in
    folders)
      [[ "$typed" == [~]/* ]] && home="$HOME/" && typed="\${typed:2}"
      for at in "$home$typed"*/; do
        [[ -d "$at" ]] || continue
        at="\${at%/}"
        COMPREPLY+=( "\${home:+~/}$(printf %q "\${at#"$home"}")" )
      done
      ;;
    fibers|agents)
      while IFS= read -r at; do
        [[ -n "$at" && "$at" == "$typed"* ]] && COMPREPLY+=( "$(printf %q "$at")" )
      done <<< "$(command "\${asked[@]}" completion "$place" "$typed" 2>/dev/null)"
      ;;
    *) COMPREPLY=( $(compgen -W "$place" -- "$cur") ) ;;
  esac
  return 0
}
complete -F _svc svc
`;
}

export function zshScript(commands: readonly CommandFacts[]): string {
  return `autoload -U +X bashcompinit && bashcompinit
${bashScript(commands)}# bashcompinit would quote the tilde, and only a folder begins with one.
_svc_zsh() {
  if [[ "\${words[CURRENT]}" == [~]* ]]; then _directories; else _bash_complete -F _svc; fi
}
compdef _svc_zsh svc
`;
}

function secondWords(parent: string, commands: readonly CommandFacts[]): string {
  const seconds = commands
    .filter(({ path }) => path[0] === parent && path.length > 1)
    .map(({ path }) => path[1]!);
  return `    ${parent})
      if [[ $COMP_CWORD -eq $(( first + 1 )) ]]; then
        COMPREPLY=( $(compgen -W "${seconds.join(' ')}" -- "$cur") )
        return 0
      fi
      case "\${COMP_WORDS[first+1]}" in
        ${seconds.join('|')}) first=$(( first + 1 )); verb="$verb \${COMP_WORDS[first]}" ;;
      esac
      ;;
`;
}

function optionCase(command: CommandFacts): string {
  const all = [...command.options.flatMap(({ names }) => names), '--help'];
  const valued = command.options.filter(({ value }) => value !== null).flatMap(({ names }) => names);
  return `    "${command.path.join(' ')}") words="${all.join(' ')}"; valued=" ${valued.join(' ')} " ;;\n`;
}

function valueCases(command: CommandFacts): string[] {
  return command.options.flatMap(({ names, completes }) => {
    return completes === null
      ? []
      : names.map((name) => `      "${command.path.join(' ')} ${name}") place="${textOf(completes)}" ;;\n`);
  });
}

function argumentCases(command: CommandFacts): string[] {
  return command.arguments.flatMap(({ completes }, position) => {
    return completes === null
      ? []
      : [`      "${command.path.join(' ')} ${position}") place="${textOf(completes)}" ;;\n`];
  });
}

function textOf(completes: Completes): string {
  return typeof completes === 'string' ? completes : completes.join(' ');
}
