import { lengthOf } from '../../command-line/fit-width.ts';
import { glyphOf } from '../../command-line/glyphs.ts';
import type { Styled } from '../../command-line/styled-text.ts';
import type { CliContext } from '../../command-line/verb.ts';
import { type Finding, findingLine } from './check.ts';

/** Columns before what a finding says, and between that and a mend on the same line. */
const INDENT = 4;
const GAP = 3;
/** What is longer has its mend right behind it. */
const WIDEST_COLUMN = 30;

/**
 * What keeps work from starting, or what a new machine lacks before its first work; then what to know, then how many
 * checks passed. With `all`, and into a file or a pipe, every finding in the order of the checks.
 */
export function doctorPage(
  findings: readonly Finding[],
  { width, unicode }: Pick<CliContext, 'width' | 'unicode'>,
  all: boolean,
): Styled {
  if (all || width === Number.POSITIVE_INFINITY) return findings.map(findingLine);
  const failed = findings.some(({ level }) => level === 'fail');
  const keeping = findings.filter(({ level, keeps_back }) => level === 'fail' || keeps_back === true);
  const warned = findings.filter(({ level, keeps_back }) => level === 'warn' && keeps_back !== true);
  const passed = findings.filter(({ level }) => level === 'ok');
  const title = (text: string) => ({ tone: 'heading' as const, text: `${text}\n` });
  const things = keeping.length === 1 ? '1 thing' : `${keeping.length} things`;
  const keeps = `${things} ${keeping.length === 1 ? 'keeps' : 'keep'} work from starting`;
  return [
    ...(keeping.length === 0 && warned.length === 0 ? ['Nothing keeps work from starting. '] : []),
    ...(keeping.length === 0 ? [] : [title(failed ? keeps : `${things} to do before the first work`)]),
    ...lines(keeping, glyphOf(failed ? 'fault' : 'notice', unicode), width),
    ...(warned.length === 0 ? [] : [title(`${warned.length} to know`)]),
    ...lines(warned, glyphOf('notice', unicode), width),
    {
      tone: 'dim',
      text: `${passed.length === 1 ? '1 check' : `${passed.length} checks`} passed (svc doctor --all)\n`,
    },
  ];
}

/** Each with its mend: on its own line, below one another, where both fit there; else on the next one. */
function lines(findings: readonly Finding[], glyph: Styled[number], width: number): Styled {
  const told = findings.map(({ name, what, mend }) => ({
    what: what.includes(name.replace(/s$/, '')) ? what : `${name}: ${what}`,
    mend: mend ?? '',
  }));
  const fits = ({ what, mend }: { what: string; mend: string }, column: number) =>
    lengthOf(what) <= column && INDENT + column + GAP + lengthOf(mend) <= width;
  const short = told.filter((one) => fits(one, Math.min(lengthOf(one.what), WIDEST_COLUMN)));
  const column = Math.max(0, ...short.map(({ what }) => lengthOf(what)));
  return told.flatMap((one) => {
    const at = fits(one, column) ? column : fits(one, lengthOf(one.what)) ? lengthOf(one.what) : null;
    const between = at === null ? `\n${' '.repeat(INDENT + 2)}` : ' '.repeat(at - lengthOf(one.what) + GAP);
    return ['  ', glyph, ` ${one.what}${one.mend === '' ? '' : `${between}${one.mend}`}\n`];
  });
}
