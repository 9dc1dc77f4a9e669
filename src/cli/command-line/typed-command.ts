import { svcOf } from '../../config/own-command.ts';
import { readSettings } from '../../config/settings.ts';
import type { Styled } from './styled-text.ts';
import type { CliContext } from './verb.ts';

/** The command that runs `svc` on the setup of this context. */
export function svcIn({ env }: Pick<CliContext, 'env'>): string {
  try {
    return svcOf(readSettings(env));
  } catch {
    // What is wrong with a setting is what is being told.
    return 'svc';
  }
}

/** The verbs that sentences name; `demo` is the prefix itself. Other words after `svc` are prose. */
export const NAMED_VERBS = [
  ...['run', 'open', 'doctor', 'daemon', 'status', 'fiber', 'search', 'install', 'repeat', 'pin', 'reshape'],
  ...['pause', 'resume', 'accept', 'close', 'reopen', 'set-agent', 'set-model', 'set-outcome', 'uninstall'],
  ...['ps', 'attach', 'capture', 'claim', 'dispatch', 'why', 'log', 'transcript', 'diff', 'spend', 'peers'],
  ...['send', 'inbox', 'kill', 'handoff', 'stop-all', 'resume-all', 'incident', 'meeting', 'fleet', 'host'],
  ...['agents', 'remotes', 'tunnels', 'completion', 'resolve-dir', 'setup', 'help'],
  ...['hook', 'recognize', 'recorder', 'demo-agent'],
] as const;

/** Stands between `svc` and a verb in what is kept; a character of no script, as wide as a space and not taken for one. */
const KEPT = '\ue000';
const NAMED = `(?:${NAMED_VERBS.join('|')})(?![\\w-])`;
const COMMAND = new RegExp(`(?<![\\w/.~-])svc (?=${NAMED})`, 'g');
const KEPT_COMMAND = new RegExp(`(?<![\\w/.~-])svc${KEPT}(?=${NAMED})`, 'g');

/**
 * A text with the commands that it names as they have to be typed here: `svc demo resume x` where the daemon of the
 * demo, which knows only of `svc resume x`, has written it.
 */
export function withCommands(text: string, svc: string): string {
  const typed = svc === 'svc' ? text : text.replace(COMMAND, `${svc} `);
  return typed.replace(KEPT_COMMAND, 'svc ');
}

/** The words of somebody else on a page: what they call a command stays as they wrote it. */
export function asWritten(text: string): string {
  return text.replace(COMMAND, `svc${KEPT}`);
}

/** As `withCommands`, on the setup of this context. */
export function asTyped(text: string, context: Pick<CliContext, 'env'>): string {
  return withCommands(text, svcIn(context));
}

/** The same of a page. */
export function pageAsTyped(page: Styled, context: Pick<CliContext, 'env'>): Styled {
  const svc = svcIn(context);
  return page.map((span) =>
    typeof span === 'string' ? withCommands(span, svc) : { ...span, text: withCommands(span.text, svc) },
  );
}
