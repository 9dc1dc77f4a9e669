import { type ReactNode, useId, useMemo, useState } from 'react';
import { useFollowed } from '../lib/board.ts';
import type { Aim } from '../model/aim.ts';
import type { Gesture } from '../model/gestures.ts';
import { parentsFor } from '../model/nesting.ts';
import type { NestFiber } from '../model/wire.ts';
import { Button } from '../ui/Button.tsx';
import { Dialog } from '../ui/Dialog.tsx';
import { Field } from '../ui/Field.tsx';
import styles from './Forms.module.css';
import { close } from './gestures.ts';
import { RehearsedView, useRehearsed } from './rehearsed.tsx';
import { feedRow, send } from './writes.ts';

/** How many fibers are offered at once; more are found by typing. */
const OFFERED = 50;

/** Moves a fiber below another one of its store, or to its top. */
export default function NestDialog({ aim, gesture }: { aim: Aim; gesture: Gesture }): ReactNode {
  const id = useId();
  const { copy } = useFollowed();
  const { row_key } = aim;
  const row = feedRow(row_key);
  const [parent, setParent] = useState('');
  const offered = useMemo(
    () => (row === undefined || copy === null ? [] : parentsFor(row, copy.rows.values(), parent, OFFERED)),
    [row, copy, parent],
  );
  const asked = gesture.act.kind === 'form' ? (gesture.act.call.body as NestFiber) : { fiber_id: '' };
  const body: NestFiber = { ...asked, parent: parent.trim() === '' ? null : parent.trim() };
  const rehearsed = useRehearsed({ path: '/fiber-nest', body });
  const nest = () => {
    if (rehearsed?.ok !== true) return;
    close();
    const done = body.parent === null ? 'At the top of its store now.' : `Below ${body.parent} now.`;
    setTimeout(() => void send(aim, { call: { path: '/fiber-nest', body }, change: null, done }));
  };
  return (
    <Dialog title={`Nest: ${row?.name ?? ''}`} onClose={close}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          nest();
        }}
      >
        <p className={styles.about}>{gesture.refused ?? gesture.says}</p>
        <Field label="Below" hint="The id of a fiber of the same store. Empty is the top of the store.">
          {(input) => (
            <>
              <input
                {...input}
                list={`${id}-offered`}
                value={parent}
                autoComplete="off"
                spellCheck={false}
                data-autofocus
                onChange={({ target }) => setParent(target.value)}
              />
              <datalist id={`${id}-offered`}>
                {offered.map((one) => (
                  <option key={one.id} value={one.id} label={one.name} />
                ))}
              </datalist>
            </>
          )}
        </Field>
        <RehearsedView rehearsed={rehearsed} />
        <div className={styles.actions}>
          <Button tone="quiet" onClick={close}>
            Cancel
          </Button>
          <Button type="submit" tone="agent" disabled={rehearsed?.ok !== true}>
            Nest
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
