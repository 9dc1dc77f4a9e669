import { lazy, type ReactNode, Suspense, useRef, useState } from 'react';
import { KeepKeys } from '../lib/parts.tsx';
import type { FiberRow } from '../model/wire.ts';
import { Boundary } from '../ui/Boundary.tsx';
import { Button } from '../ui/Button.tsx';
import { Part } from './Part.tsx';
import styles from './RosterPart.module.css';

const RosterEditor = lazy(() => import('./RosterEditor.tsx'));

/** Who works together on the fiber, by their roles. */
export function RosterPart({ row }: { row: FiberRow }): ReactNode {
  const [editing, setEditing] = useState(false);
  /** Whether the editor was left, and the focus has to go somewhere. */
  const left = useRef(false);
  const roles = Object.entries(row.collaboration ?? {});
  return (
    <Part
      title="Roster"
      action={
        !editing && (
          <Button
            tone="quiet"
            aria-label="Edit the roster"
            // The focus was in the editor that it opens.
            autoFocus={left.current}
            onClick={() => setEditing(true)}
          >
            Edit
          </Button>
        )
      }
    >
      {editing ? (
        <Boundary what="The editor">
          <Suspense fallback={<KeepKeys />}>
            <RosterEditor
              row={row}
              onDone={() => {
                left.current = true;
                setEditing(false);
              }}
            />
          </Suspense>
        </Boundary>
      ) : roles.length === 0 ? (
        <p className={styles.none}>Nobody is named.</p>
      ) : (
        <ul className={styles.roles}>
          {roles.map(([role, names]) => (
            <li key={role}>{names.length === 0 ? role : `${role}: ${names.join(', ')}`}</li>
          ))}
        </ul>
      )}
    </Part>
  );
}
