import { type ReactNode, useEffect, useId, useState } from 'react';
import type { Aim } from '../model/aim.ts';
import type { Gesture } from '../model/gestures.ts';
import type { DispatchRequest, Refused } from '../model/wire.ts';
import { Button } from '../ui/Button.tsx';
import { Dialog } from '../ui/Dialog.tsx';
import { Field } from '../ui/Field.tsx';
import { FolderField } from './FolderField.tsx';
import styles from './Forms.module.css';
import { close } from './gestures.ts';
import { RehearsedView, useRehearsed } from './rehearsed.tsx';
import { feedRow, send } from './writes.ts';

type Mode = NonNullable<DispatchRequest['resume_mode']> | 'usual';
const MODES: readonly { mode: Mode; name: string; says: string }[] = [
  { mode: 'usual', name: 'As usual', says: 'Goes on where it was cut off; starts fresh once it handed off.' },
  { mode: 'previous', name: 'Go on', says: 'With its previous conversation, however it ended.' },
  { mode: 'fresh', name: 'Start fresh', says: 'In a new conversation.' },
];

/** What was written for a worker that is not started yet, by the key of the row: a refusal does not lose it. */
const messages = new Map<string, string>();

/** Starts a worker by hand, once it is shown what that does. */
export default function LaunchDialog({ aim, gesture }: { aim: Aim; gesture: Gesture }): ReactNode {
  const id = useId();
  const { row_key } = aim;
  const row = feedRow(row_key);
  const [message, setMessage] = useState(messages.get(row_key) ?? '');
  const [mode, setMode] = useState<Mode>('usual');
  const [folder, setFolder] = useState('');
  const [despite_brake, setDespite] = useState(false);
  const [braked, setBraked] = useState(false);
  const [wants_folder, setWantsFolder] = useState(false);
  const as_it_is = gesture.act.kind === 'form' ? gesture.act.as_it_is : undefined;
  const request: DispatchRequest = {
    ...((as_it_is?.act.call.body as DispatchRequest | undefined) ?? { fiber_id: '' }),
    ...(message.trim() === '' ? {} : { user_message: message }),
    ...(mode === 'usual' ? {} : { resume_mode: mode }),
    ...(folder.trim() === '' ? {} : { project_dir: folder.trim() }),
    ...(despite_brake ? { despite_brake } : {}),
  };
  const rehearsed = useRehearsed({ path: '/dispatch', body: request });
  const refused = rehearsed?.ok === false ? rehearsed : null;
  const needs_folder = (refused?.body as Partial<Refused> | null | undefined)?.needs === 'project_dir';
  const stopped = refused?.code === 'stopped_all';
  useEffect(() => {
    if (needs_folder) setWantsFolder(true);
    if (stopped) setBraked(true);
  }, [needs_folder, stopped]);
  const launch = () => {
    if (rehearsed?.ok !== true || as_it_is === undefined) return;
    close();
    setTimeout(async () => {
      const answer = await send(aim, { ...as_it_is.act, call: { path: '/dispatch', body: request } });
      if (answer.ok) messages.delete(row_key);
    });
  };
  const { agent, effort } = row?.svc ?? {};
  return (
    <Dialog title={`Launch: ${row?.name ?? ''}`} onClose={close}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          launch();
        }}
      >
        <p className={styles.about}>
          Agent <b>{agent ?? 'the default one'}</b>
          {effort !== undefined && `, effort ${effort}`}
        </p>
        <Field label="Message to the worker" hint="Beside its document. It may be empty.">
          {(input) => (
            <textarea
              {...input}
              rows={3}
              value={message}
              onChange={({ target }) => {
                messages.set(row_key, target.value);
                setMessage(target.value);
              }}
              onKeyDown={(event) => {
                if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
                event.preventDefault();
                launch();
              }}
            />
          )}
        </Field>
        <fieldset className={styles.choices}>
          <legend>Conversation</legend>
          {MODES.map((one) => (
            <label key={one.mode} className={styles.choice}>
              <input
                type="radio"
                name={`${id}-mode`}
                checked={mode === one.mode}
                onChange={() => setMode(one.mode)}
              />
              <span>
                <b>{one.name}</b> {one.says}
              </span>
            </label>
          ))}
        </fieldset>
        {wants_folder && <FolderField value={folder} host={row?.svc?.host} onChange={setFolder} />}
        {braked && (
          <label className={styles.choice}>
            <input
              type="checkbox"
              checked={despite_brake}
              onChange={({ target }) => setDespite(target.checked)}
            />
            <span>
              <b>Although the emergency brake is on</b> It stays on for everything else.
            </span>
          </label>
        )}
        <RehearsedView rehearsed={rehearsed} />
        <div className={styles.actions}>
          <Button tone="quiet" onClick={close}>
            Cancel
          </Button>
          <Button type="submit" tone="agent" disabled={rehearsed?.ok !== true}>
            Launch
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
