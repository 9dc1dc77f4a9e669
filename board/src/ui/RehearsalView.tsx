import type { ReactNode } from 'react';
import type { RehearsedStep } from '../model/wire.ts';
import { sentence } from '../model/wording.ts';
import styles from './RehearsalView.module.css';
import { Path } from './Sentence.tsx';

/** What a write would do, as the daemon rehearsed it: one sentence, and on demand every effect. */
export function RehearsalView({ rehearsal }: { rehearsal: RehearsedStep }): ReactNode {
  const { would, moves, documents, command, ends, prompt } = rehearsal;
  return (
    <section className={styles.rehearsal} aria-label="What would happen">
      <p className={styles.would}>
        <Path>{sentence(would)}</Path>
      </p>
      {ends.length > 0 && <p>Ends {ends.join(', ')}.</p>}
      {moves.map(({ from, to }) => (
        <p key={from}>
          Moves{' '}
          <code>
            <Path>{from}</Path>
          </code>{' '}
          to{' '}
          <code>
            <Path>{to}</Path>
          </code>
          .
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
