import { glyphOf } from '../../command-line/glyphs.ts';
import type { Styled } from '../../command-line/styled-text.ts';
import type { CliContext } from '../../command-line/verb.ts';
import { type Finding, findingLine } from './check.ts';

/**
 * What keeps work from starting, then what to know, then how many checks passed. With `all`, and into a file or a pipe,
 * every finding in the order of the checks.
 */
export function doctorPage(
  findings: readonly Finding[],
  { width, unicode }: Pick<CliContext, 'width' | 'unicode'>,
  all: boolean,
): Styled {
  if (all || width === Number.POSITIVE_INFINITY) return findings.map(findingLine);
  const keeping = findings.filter(({ level, keeps_back }) => level === 'fail' || keeps_back === true);
  const warned = findings.filter(({ level, keeps_back }) => level === 'warn' && keeps_back !== true);
  const passed = findings.filter(({ level }) => level === 'ok');
  const listed = (found: readonly Finding[], glyph: 'fault' | 'notice') =>
    found.flatMap(({ name, what, mend }) => [
      '  ',
      glyphOf(glyph, unicode),
      ` ${what.startsWith(name) ? what : `${name}: ${what}`}\n${mend === null ? '' : `      ${mend}\n`}`,
    ]);
  const title = (text: string) => ({ tone: 'heading' as const, text: `${text}\n` });
  const count = keeping.length;
  return [
    ...(count === 0
      ? ['Nothing keeps work from starting.\n']
      : [
          title(count === 1 ? '1 thing keeps work from starting' : `${count} things keep work from starting`),
        ]),
    ...listed(keeping, 'fault'),
    ...(warned.length === 0 ? [] : [title(`${warned.length} to know`)]),
    ...listed(warned, 'notice'),
    {
      tone: 'dim',
      text: `${passed.length === 1 ? '1 check' : `${passed.length} checks`} passed (svc doctor --all)\n`,
    },
  ];
}
