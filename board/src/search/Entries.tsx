import type { ReactNode } from 'react';
import { cardOf } from '../model/card.ts';
import type { Command } from '../model/commands.ts';
import type { Day } from '../model/days.ts';
import { type FoundFiber, type Mark, marksIn, piecesOf } from '../model/finder.ts';
import { foundPlace } from '../model/found-place.ts';
import type { Aged } from '../model/hosts.ts';
import type { FiberRow, SearchHit } from '../model/wire.ts';
import { Glyph } from '../ui/Glyph.tsx';
import styles from './Finder.module.css';

/** An entry of the finder; `run` is what choosing it does. */
export type Shown = { key: string; run(): void } & (
  | ({ kind: 'fiber' } & FoundFiber)
  /** A fiber whose text has it; without a row where the page does not know it yet. */
  | { kind: 'text'; hit: SearchHit; row: FiberRow | undefined }
  | { kind: 'command'; command: Command; marks: readonly Mark[] }
);

type FiberViewProps = { of: Exclude<Shown, { kind: 'command' }>; today: Day; aged: Aged | null };

/** A fiber in two lines: its title and where it is, and its id, its host or the place of its text. */
export function FiberView({ of, today, aged }: FiberViewProps): ReactNode {
  const card = of.row === undefined ? null : cardOf(of.row, today, aged);
  const name = of.kind === 'fiber' ? { text: of.row.name, matches: of.marks } : of.hit.name;
  const id = of.kind === 'fiber' ? of.row.id : (of.row?.id ?? of.hit.path);
  const snippet = of.kind === 'text' ? (of.hit.snippets[0] ?? of.hit.outcome) : of.outcome;
  const terms = of.kind === 'fiber' ? of.terms : [];
  const marked = (text: string) => <Marked text={text} marks={marksIn(text, terms)} />;
  const tags = of.row?.tags ?? [];
  return (
    <>
      {card !== null && <Glyph state={card.state} />}
      <span className={styles.words}>
        <span className={styles.name}>
          <b>
            <Marked text={name.text} marks={name.matches} />
          </b>
          {card !== null && <em>{foundPlace(card, today)}</em>}
        </span>
        {snippet === null ? (
          <span className={styles.facts}>
            <span className={styles.path}>{marked(id)}</span>
            {card !== null && <span>{marked(card.host)}</span>}
            {tags.length > 0 && (
              <span className={styles.tags}>{marked(tags.map((tag) => `#${tag}`).join(' '))}</span>
            )}
          </span>
        ) : (
          <span className={styles.snippet}>
            <Marked text={snippet.text} marks={snippet.matches} />
          </span>
        )}
      </span>
    </>
  );
}

export function CommandView({ command, marks }: { command: Command; marks: readonly Mark[] }): ReactNode {
  return (
    <>
      <svg className={styles.arrow} width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">
        <path d="M2.5 7h9M7.8 3.3 11.5 7l-3.7 3.7" />
      </svg>
      <span className={styles.words}>
        <span>
          <Marked text={command.text} marks={marks} />
        </span>
      </span>
      {command.key !== null && <kbd className={styles.key}>{command.key}</kbd>}
    </>
  );
}

function Marked({ text, marks }: { text: string; marks: readonly Mark[] }): ReactNode {
  let at = 0;
  return piecesOf(text, marks).map((piece) => {
    const key = at;
    at += piece.text.length;
    return piece.marked ? <mark key={key}>{piece.text}</mark> : <span key={key}>{piece.text}</span>;
  });
}
