import { readSettings } from '../../config/settings.ts';
import { type SearchHit, type SearchReply, searchReplySchema } from '../../contract/http/search.ts';
import { printJson } from '../command-line/output.ts';
import { type CliContext, EXIT, type ExitCode, type Verb } from '../command-line/verb.ts';
import { connectDaemon } from '../daemon-client/client.ts';
import { parseStatus } from './fiber/add.ts';

type Options = { limit?: string; tag?: string; status?: string; json?: boolean };

/** `svc search <words...>`: the fibers whose name, outcome, tags or body have all the words (RPL-4). */
export const verb: Verb = {
  name: 'search',
  summary: 'Find fibers by what is written in them',
  register(command, context, exit) {
    command
      .argument('<words...>', 'words or beginnings of words; "several words" as they stand')
      .option('--limit <count>', 'how many at most (20 unless given)')
      .option('--tag <tag>', 'only those with this tag')
      .option('--status <status>', 'only this status')
      .option('--json', 'answer as JSON')
      .action(async (words: string[], options: Options) => exit(await run(context, words, options)));
  },
};

async function run(context: CliContext, words: string[], options: Options): Promise<ExitCode> {
  const daemon = await connectDaemon(readSettings(context.env));
  const query = new URLSearchParams({ query: words.map(quoted).join(' ') });
  const { limit, tag } = options;
  const wishes = { limit, tag, status: parseStatus(options.status) };
  for (const [name, value] of Object.entries(wishes)) if (value !== undefined) query.set(name, value);
  const reply = await daemon.get(`/search?${query}`, searchReplySchema);
  if (options.json) printJson(context, reply);
  else context.out(searchPage(reply));
  return EXIT.ok;
}

/** A shell takes the quotes of a quoted text away; what has a space in it was one. */
function quoted(word: string): string {
  return /\s/.test(word) && !word.includes('"') ? `"${word}"` : word;
}

/** One paragraph for each hit, then how many there are. */
export function searchPage({ total, hits, complete }: SearchReply): string {
  const lines = hits.flatMap((hit) => [...paragraph(hit), '']);
  const count = total === 1 ? '1 fiber matches' : `${total} fibers match`;
  const shown = hits.length < total ? `; the best ${hits.length} are shown` : '';
  const rest = complete ? '' : ' Some bodies have not been read yet; search again.';
  return `${[...lines, `${count}${shown}.${rest}`].join('\n')}\n`;
}

function paragraph({ id, name, status, outcome, snippets }: SearchHit): string[] {
  const texts = snippets.map(({ text, line }) => `  ${line}: ${text.replace(/\s+/g, ' ').trim()}`);
  return [`${id} (${status})  ${name.text}`, ...(outcome === null ? [] : [`  ${outcome.text}`]), ...texts];
}
