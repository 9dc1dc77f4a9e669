import type { ReactNode } from 'react';
import { Late, part as partOf } from '../lib/parts.tsx';
import { go, useWhere } from '../lib/url.ts';
import { Agents } from './Agents.tsx';
import { Brake } from './Brake.tsx';
import { Health } from './Health.tsx';
import { Keys } from './Keys.tsx';
import styles from './Settings.module.css';
import { Stores } from './Stores.tsx';

const FILE_EDITOR = partOf(
  () => import('./FileEditor.tsx'),
  () => go({ part: null }),
);

const PARTS: readonly { part: string; name: string; shows: () => ReactNode }[] = [
  { part: 'health', name: 'Health', shows: () => <Health /> },
  { part: 'agents', name: 'Agents', shows: () => <Agents /> },
  { part: 'stores', name: 'Stores and projects', shows: () => <Stores /> },
  { part: 'brake', name: 'Emergency brake', shows: () => <Brake /> },
  { part: 'keys', name: 'Keys', shows: () => <Keys /> },
];

const FILES = ['agents', 'stores', 'projects', 'remotes', 'host'];
const OF_FILE = 'file-';

/** How this host is set up, how it is, and what of the board itself can be turned off. */
export default function Settings(): ReactNode {
  const { part } = useWhere();
  const file = FILES.find((one) => part === `${OF_FILE}${one}`);
  const shown = file === undefined ? (PARTS.find((one) => one.part === part) ?? PARTS[0]) : undefined;
  return (
    <div className={styles.settings}>
      <nav className={styles.nav} aria-label="Settings">
        <ul>
          {PARTS.map(({ part: one, name }) => (
            <Part key={one} part={one} name={name} current={one === shown?.part} />
          ))}
        </ul>
        <h2 className={styles.group}>Operator files</h2>
        <ul>
          {FILES.map((one) => (
            <Part key={one} part={`${OF_FILE}${one}`} name={`${one}.json`} current={one === file} />
          ))}
        </ul>
      </nav>
      <section
        className={styles.part}
        data-part={file ?? shown?.part}
        aria-label={file ?? shown?.name ?? 'Settings'}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: keys scroll it, also where it has no control.
        tabIndex={0}
      >
        {shown?.shows()}
        {file !== undefined && <Late key={file} of={FILE_EDITOR} with={{ id: file }} />}
      </section>
    </div>
  );
}

function Part({ part, name, current }: { part: string; name: string; current: boolean }): ReactNode {
  return (
    <li>
      <button
        type="button"
        className={styles.link}
        ref={(button) => {
          if (current) button?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
        }}
        aria-current={current ? 'page' : undefined}
        onClick={() => go({ part })}
      >
        {name}
      </button>
    </li>
  );
}
