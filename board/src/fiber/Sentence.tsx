import type { ReactNode } from 'react';
import { commandParts } from '../model/sheet.ts';
import { sentence } from '../model/wording.ts';
import styles from './Sentence.module.css';

/** A phrase of the daemon as a sentence, its commands as such. */
export function Sentence({ children }: { children: string }): ReactNode {
  let at = 0;
  return commandParts(sentence(children)).map(({ code, text }) => {
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
