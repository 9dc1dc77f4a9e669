import type { ReactNode } from 'react';
import { asSentence, commandParts } from '../model/sheet.ts';
import styles from './Sentence.module.css';

/** A phrase of the daemon as a sentence, its commands as such. */
export function Sentence({ children }: { children: string }): ReactNode {
  let at = 0;
  return commandParts(asSentence(children)).map(({ code, text }) => {
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
