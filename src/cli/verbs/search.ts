import { readSettings } from '../../config/settings.ts';
import { type SearchHit, type SearchReply, searchReplySchema } from '../../contract/http/search.ts';
import { STATUS_WORDS } from '../../lifecycle/fiber-words.ts';
import { argument, option, statusOption } from '../command-line/options.ts';
import { asWritten } from '../command-line/typed-command.ts';
import { defineVerb } from '../command-line/verb.ts';
import { connectDaemon } from '../daemon-client/client.ts';
import { readStandings } from './fiber/standings.ts';

/** `svc search <words...>`: the fibers whose name, outcome, tags or body contain all the words (RPL-4). */
export const verb = defineVerb({
  summary: 'Find fibers by what is written in them',
  arguments: {
    words: argument('<words...>', 'words or beginnings of words; "several words" match as a phrase'),
  },
  options: {
    limit: option('--limit <count>', 'how many at most (20 unless given)'),
    tag: option('--tag <tag>', 'only those with this tag'),
    status: statusOption('only this status'),
  },
  examples: [
    ['svc search loader fonts', 'fibers that have both words, the best first'],
    ['svc search "the loader" --status active', 'the exact phrase, in those that are ready to start'],
  ],
  json: searchReplySchema,
  async run(context, { words, limit, tag, status, json }) {
    const daemon = await connectDaemon(readSettings(context.env));
    const query = new URLSearchParams({ query: words.map(quoted).join(' ') });
    for (const [name, value] of Object.entries({ limit, tag, status }))
      if (value !== undefined) query.set(name, value);
    const reply = await daemon.get(`/search?${query}`, searchReplySchema);
    const in_words = json !== true && Number.isFinite(context.width);
    const standings = in_words ? await readStandings(context) : undefined;
    return { json: reply, text: searchPage(reply, context.width, standings) };
  },
});

/** The shell removed the quotes; an argument with a space was quoted. */
function quoted(word: string): string {
  return /\s/.test(word) && !word.includes('"') ? `"${word}"` : word;
}

/** One paragraph for each hit, then their number. */
export function searchPage(
  { total, hits, complete }: SearchReply,
  width = Number.POSITIVE_INFINITY,
  standings: ReadonlyMap<string, string> = new Map(),
): string {
  const wordsOf = ({ path, status }: SearchHit) =>
    Number.isFinite(width) ? (standings.get(path) ?? STATUS_WORDS[status]) : status;
  const lines = hits.flatMap((hit) => [...paragraph(hit, wordsOf(hit)), '']);
  const count = total === 1 ? '1 fiber matches' : `${total} fibers match`;
  const shown = hits.length < total ? `; the best ${hits.length} are shown` : '';
  const rest = complete ? '' : ' Some bodies have not been read yet; search again.';
  return `${[...lines, `${count}${shown}.${rest}`].join('\n')}\n`;
}

/** A program reads the status that `--status` takes. */
function paragraph({ id, name, outcome, snippets }: SearchHit, standing: string): string[] {
  const texts = snippets.map(({ text, line }) => `  ${line}: ${asWritten(text.replace(/\s+/g, ' ').trim())}`);
  return [
    `${id} (${standing})  ${asWritten(name.text)}`,
    ...(outcome === null ? [] : [`  ${asWritten(outcome.text)}`]),
    ...texts,
  ];
}
