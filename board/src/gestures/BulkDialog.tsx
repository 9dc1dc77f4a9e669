import { type ReactNode, useState } from 'react';
import { toast } from '../lib/toasts.ts';
import type { Aim } from '../model/aim.ts';
import { BULK, type BulkId, offerOf } from '../model/bulk.ts';
import { dayOf } from '../model/days.ts';
import { type GestureId, restDays } from '../model/gestures.ts';
import { sentence, shortDay } from '../model/wording.ts';
import { Button } from '../ui/Button.tsx';
import { Dialog } from '../ui/Dialog.tsx';
import { Field } from '../ui/Field.tsx';
import styles from './Forms.module.css';
import { close, gesturesAt } from './gestures.ts';
import { clearSelection } from './selection.ts';
import { missed, send, shownRow } from './writes.ts';

/** Why each fiber that it was not done to was left as it is, by the key of its row. */
type Failed = ReadonlyMap<string, string>;

/** Does one thing to several fibers, of which each answers by itself. */
export default function BulkDialog({ aims, id }: { aims: readonly Aim[]; id: BulkId }): ReactNode {
  const [state, setState] = useState<'asking' | 'sending' | Failed>('asking');
  const name = BULK.find((one) => one.id === id)?.name ?? '';
  const today = dayOf(Date.now());
  const days = restDays(today);
  const [day, setDay] = useState(days[0]?.day ?? null);
  const gesture: GestureId = id === 'rest' ? `rest:${day ?? 'none'}` : id;
  const offers = aims.map((aim) => {
    const changed = missed(aim);
    const offer =
      changed === null ? offerOf(gesturesAt(aim.row_key), gesture) : ({ can: false, why: changed } as const);
    return { aim, offer, title: shownRow(aim.row_key)?.name ?? 'A fiber that is gone' };
  });
  const [asked, setAsked] = useState<typeof offers>([]);
  const able = offers.filter(({ offer }) => offer.can);
  const run = async () => {
    if (state !== 'asking') return;
    setState('sending');
    setAsked(offers);
    const failed = new Map<string, string>();
    const undos: (() => void)[] = [];
    await Promise.all(
      able.map(async ({ aim, offer }) => {
        if (!offer.can) return;
        const answer = await send(aim, offer.act, { undo: (one) => undos.push(one) });
        if (!answer.ok) failed.set(aim.row_key, answer.message);
      }),
    );
    const done = able.length - failed.size;
    if (done > 0)
      toast(`${name}: ${fibers(done)}.`, {
        ...(undos.length === 0 ? {} : { undo: () => undos.forEach((undo) => void undo()) }),
      });
    clearSelection();
    if (failed.size === 0) close();
    else setState(failed);
  };
  const over = typeof state === 'object';
  const shown = state === 'asking' ? offers : asked;
  const says = ({ aim, offer }: (typeof offers)[number]) => {
    if (!offer.can) return `Left as it is: ${sentence(offer.why)}`;
    if (!over) return offer.says;
    const why = state.get(aim.row_key);
    return why === undefined ? 'Done.' : `Not done: ${sentence(why)}`;
  };
  return (
    <Dialog title={`${name}: ${fibers(aims.length)}`} onClose={close}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          void run();
        }}
      >
        {id === 'rest' && !over && (
          <Field label="Until">
            {(input) => (
              <select
                {...input}
                value={day ?? ''}
                disabled={state === 'sending'}
                onChange={({ target }) => setDay(target.value || null)}
              >
                {days.map((one) => (
                  <option key={one.digit} value={one.day ?? ''}>
                    {one.day === null ? 'No date' : `${one.name}, ${shortDay(one.day, today)}`}
                  </option>
                ))}
              </select>
            )}
          </Field>
        )}
        <ul className={styles.rows}>
          {shown.map((one) => (
            <li key={one.aim.row_key}>
              <p>
                <b>{one.title}</b>
                <span>{says(one)}</span>
              </p>
            </li>
          ))}
        </ul>
        <div className={styles.actions}>
          <Button tone="quiet" onClick={close}>
            {over ? 'Close' : 'Cancel'}
          </Button>
          {!over && (
            <Button
              type="submit"
              data-autofocus
              tone={able.some(({ offer }) => offer.can && offer.act.asks) ? 'fault' : 'agent'}
              disabled={able.length === 0 || state === 'sending'}
            >
              {name}: {fibers(able.length)}
            </Button>
          )}
        </div>
      </form>
    </Dialog>
  );
}

function fibers(count: number): string {
  return count === 1 ? '1 fiber' : `${count} fibers`;
}
