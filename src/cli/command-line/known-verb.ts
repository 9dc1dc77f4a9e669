import { CodedError } from '../../base/errors.ts';
import { didYouMean } from '../../base/nearest-words.ts';
import { type Family, rowsOf, type VerbTable } from './verb-table.ts';

/** `svc help a b` as `svc a b --help`, which shows the same; any other command line as it is. */
export function helpAsOption(argv: readonly string[]): readonly string[] {
  const [first, ...words] = argv;
  const named = words.filter((word) => !word.startsWith('-'));
  return first === 'help' && named.length > 0 ? [...named, '--help'] : argv;
}

/**
 * Throws `invalid_request` where the first words name no verb, whatever follows: with `--help` too, the parser would show
 * the help of what it knows, and succeed.
 */
export async function requireKnownVerb(
  argv: readonly string[],
  verbs: VerbTable,
  svc: string,
): Promise<void> {
  const [word, second] = argv;
  if (word === undefined || word.startsWith('-') || word === 'help') return;
  const rows = rowsOf(verbs);
  const row = rows.find(({ name }) => name === word);
  if (row === undefined)
    throw unknown(
      `unknown command '${word}'`,
      didYouMean(
        word,
        rows.map(({ name }) => name),
      ),
      `${svc} help lists them`,
    );
  if (typeof row.entry === 'function' || second === undefined || second.startsWith('-')) return;
  const words = Object.keys(row.entry.verbs);
  if (words.includes(second) || (await takesArguments(row.entry))) return;
  throw unknown(
    `unknown command '${word} ${second}'`,
    didYouMean(second, words).replace('Did you mean ', `Did you mean ${word} `),
    `${svc} ${word} takes: ${words.join(', ')}`,
  );
}

async function takesArguments({ alone }: Family): Promise<boolean> {
  return alone !== undefined && Object.keys((await alone()).arguments).length > 0;
}

function unknown(said: string, question: string, list: string): CodedError {
  return new CodedError('invalid_request', question === '' ? `${said}; ${list}` : `${said}.${question}`);
}

/** The words of a command line that name a verb. */
export function verbWords(argv: readonly string[], verbs: VerbTable): string[] {
  const [word = '', second = ''] = argv;
  const row = rowsOf(verbs).find(({ name }) => name === word);
  if (row === undefined) return [];
  return typeof row.entry !== 'function' && second in row.entry.verbs ? [word, second] : [word];
}
