import { Fragment, type ReactNode } from 'react';
import { commandParts, sentence } from '../model/wording.ts';
import styles from './Sentence.module.css';

/** A phrase of the daemon as a sentence, its commands as such. */
export function Sentence({ children }: { children: string }): ReactNode {
  return <Phrase>{sentence(children)}</Phrase>;
}

/** Words of the daemon as they are, their commands as such. */
export function Phrase({ children }: { children: string }): ReactNode {
  let at = 0;
  return commandParts(children).map(({ code, text }) => {
    at += text.length;
    return code ? (
      <code key={at} className={styles.command}>
        {text}
      </code>
    ) : (
      text
    );
  });
}

/** A path or an id, which goes on in the next line after a slash where it does not fit. */
export function Path({ children }: { children: string }): ReactNode {
  return children.split(/(?<=\/)/).map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a part is its place in the path.
    <Fragment key={index}>
      {part}
      <wbr />
    </Fragment>
  ));
}
