import type { ReactNode } from 'react';
import type { RehearsedStep } from '../model/wire.ts';
import { sentence } from '../model/wording.ts';
import styles from './RehearsalView.module.css';

/** What a write would do, as the daemon rehearsed it: one sentence, and on demand every effect. */
export function RehearsalView({ rehearsal }: { rehearsal: RehearsedStep }): ReactNode {
  const { would, moves, documents, command, ends, prompt } = rehearsal;
  return (
    <section className={styles.rehearsal} aria-label="What would happen">
      <p className={styles.would}>{sentence(would)}</p>
      {command !== null && (
        <dl className={styles.facts}>
          {command.cwd !== null && (
            <>
              <dt>In</dt>
              <dd>
                <code>{command.cwd}</code>
              </dd>
            </>
          )}
          <dt>Session</dt>
          <dd>
            <code>{command.mux_session}</code>
          </dd>
        </dl>
      )}
      {ends.length > 0 && <p>Ends {ends.join(', ')}.</p>}
      {moves.map(({ from, to }) => (
        <p key={from}>
          Moves <code>{from}</code> to <code>{to}</code>.
        </p>
      ))}
      {documents.map(({ path, diff }) => (
        <Long key={path} title={`Writes ${path}`} text={diff} />
      ))}
      {command !== null && <Long title="The command it runs" text={command.argv.join(' ')} />}
      {prompt !== null && <Long title="What the worker is told" text={prompt} />}
    </section>
  );
}

function Long({ title, text }: { title: string; text: string }): ReactNode {
  return (
    <details className={styles.long}>
      <summary>{title}</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keys. */}
      <pre tabIndex={0}>{text}</pre>
    </details>
  );
}
