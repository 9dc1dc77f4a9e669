import type { ReactNode } from 'react';
import type { CardState } from '../model/states.ts';
import { Glyph } from '../ui/Glyph.tsx';
import { Phrase } from '../ui/Sentence.tsx';
import styles from './Banners.module.css';

type BannerProps = { glyph: CardState; title: string; children: ReactNode; action?: ReactNode };

export function Banner({ glyph, title, children, action }: BannerProps): ReactNode {
  return (
    <div className={styles.banner}>
      <Glyph state={glyph} />
      <p>
        <b>{title}</b> <span>{typeof children === 'string' ? <Phrase>{children}</Phrase> : children}</span>
      </p>
      {action !== undefined && <div className={styles.actions}>{action}</div>}
    </div>
  );
}
