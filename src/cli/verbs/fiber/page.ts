import type { FiberDocument } from '../../../contract/fiber.ts';
import type { DocumentWithBody } from '../../../fibers/document.ts';
import { KIND_WORDS, STATUS_WORDS, verdictWords } from '../../../lifecycle/fiber-words.ts';
import { formatTable } from '../../command-line/output.ts';
import { asWritten } from '../../command-line/typed-command.ts';

/** `svc fiber ls` for a person; `standings`: by path, what the daemon knows beside the document. */
export function renderList(
  rows: FiberDocument[],
  width: number,
  standings: ReadonlyMap<string, string> = new Map(),
): string {
  if (rows.length === 0) return 'No fibers.\n';
  const isPiped = width === Number.POSITIVE_INFINITY;
  return formatTable(
    ['fiber', 'status', 'starts', 'host', 'name'],
    rows.map((row) => [
      row.id,
      row.error !== undefined ? 'error' : isPiped ? codeOf(row) : (standings.get(row.path) ?? verdictOf(row)),
      row.svc?.kind === undefined ? '' : KIND_WORDS[row.svc.kind],
      row.svc?.host ?? '',
      row.error ?? asWritten(row.name),
    ]),
    width,
  );
}

/** `svc fiber show` for a person: fields, then the body. */
export function renderPage(document: DocumentWithBody): string {
  const svc = document.svc;
  const fields: [string, string | undefined][] = [
    ['fiber', document.id],
    ['uid', document.uid ?? undefined],
    ['name', asWritten(document.name)],
    ['status', verdictOf(document)],
    ['tags', document.tags.join(', ') || undefined],
    ['outcome', document.outcome === undefined ? undefined : asWritten(document.outcome)],
    ['due', document.due],
    ['created', document.created_at],
    ['updated', document.updated_at],
    ['closed', document.closed_at],
    [
      'starts',
      svc === undefined
        ? undefined
        : [KIND_WORDS[svc.kind ?? 'oneshot'], svc.host, svc.agent, svc.schedule].filter(Boolean).join(' · '),
    ],
    ['folder', document.project_dir],
    ['file', document.path],
    ['error', document.error],
  ];
  const shown = fields.filter((field): field is [string, string] => field[1] !== undefined);
  const head = shown.map(([label, value]) => `${label.padEnd(10)}${oneLine(value)}\n`).join('');
  if (document.body === '') return head;
  return `${head}\n${asWritten(document.body)}${document.body.endsWith('\n') ? '' : '\n'}`;
}

/** For a program, which compares it with `--status`. */
function codeOf({ status, tempered }: FiberDocument): string {
  if (status !== 'closed') return status;
  return `closed (${tempered === undefined ? 'to review' : verdictWords(tempered)})`;
}

function verdictOf(row: FiberDocument): string {
  const words = STATUS_WORDS[row.status];
  return row.status === 'closed' ? `${words}, ${verdictWords(row.tempered)}` : words;
}

/** On one line, so that no value can imitate another field. */
function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ');
}
