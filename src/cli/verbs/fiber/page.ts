import type { FiberDocument } from '../../../contract/fiber.ts';
import type { DocumentWithBody } from '../../../fibers/document.ts';
import { formatTable } from '../../command-line/output.ts';
import { KIND_WORDS } from '../../command-line/screen-words.ts';

/** `svc fiber ls` for a person. */
export function renderList(rows: FiberDocument[], width: number): string {
  if (rows.length === 0) return 'No fibers.\n';
  return formatTable(
    ['fiber', 'status', 'starts', 'host', 'name'],
    rows.map((row) => [
      row.id,
      row.error === undefined ? verdictOf(row) : 'error',
      row.svc?.kind === undefined ? '' : KIND_WORDS[row.svc.kind],
      row.svc?.host ?? '',
      row.error ?? row.name,
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
    ['name', document.name],
    ['status', verdictOf(document)],
    ['tags', document.tags.join(', ') || undefined],
    ['outcome', document.outcome],
    ['due', document.due],
    ['created', document.created_at],
    ['updated', document.updated_at],
    ['closed', document.closed_at],
    [
      'service',
      svc === undefined
        ? undefined
        : [svc.kind, svc.host, svc.agent, svc.schedule].filter(Boolean).join(' · '),
    ],
    ['directory', document.project_dir],
    ['file', document.path],
    ['error', document.error],
  ];
  const shown = fields.filter((field): field is [string, string] => field[1] !== undefined);
  const head = shown.map(([label, value]) => `${label.padEnd(10)}${oneLine(value)}\n`).join('');
  if (document.body === '') return head;
  return `${head}\n${document.body}${document.body.endsWith('\n') ? '' : '\n'}`;
}

function verdictOf(row: FiberDocument): string {
  if (row.status !== 'closed') return row.status;
  if (row.tempered === undefined) return 'closed (to review)';
  return row.tempered ? 'closed (accepted)' : 'closed (set aside)';
}

/** On one line, so that no value can imitate another field. */
function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ');
}
