import { type ReactNode, useState } from 'react';
import { useRead } from '../lib/reads.ts';
import type { Aim } from '../model/aim.ts';
import type { Form, Gesture } from '../model/gestures.ts';
import type { AgentsReply, LifecycleRequest } from '../model/wire.ts';
import { sentence } from '../model/wording.ts';
import { Button } from '../ui/Button.tsx';
import { Dialog } from '../ui/Dialog.tsx';
import { Field } from '../ui/Field.tsx';
import { FolderField } from './FolderField.tsx';
import styles from './Forms.module.css';
import { close } from './gestures.ts';
import { feedRow, send } from './writes.ts';

type Shape = Exclude<Form, 'launch' | 'nest'>;

const WORDS: Readonly<Record<Shape, { title: string; button: string; done: string }>> = {
  install: { title: 'Launch', button: 'Launch', done: 'It is a task now, and starts as soon as it may.' },
  pin: { title: 'Pin', button: 'Pin', done: 'Pinned.' },
  repeat: { title: 'Repeat', button: 'Repeat', done: 'It is launched by its schedule.' },
  agent: { title: 'Choose agent', button: 'Save', done: 'Its next launch has the agent that you chose.' },
};

/** Each morning. */
const USUAL_SCHEDULE = '0 9 * * *';

/** Makes a fiber a task, a pinned role or a standing one, or gives it another agent. */
export default function ShapeDialog({
  aim,
  gesture,
  form,
}: {
  aim: Aim;
  gesture: Gesture;
  form: Shape;
}): ReactNode {
  const { row_key } = aim;
  const row = feedRow(row_key);
  const { svc } = row ?? {};
  const origin = gesture.act.kind === 'form' ? gesture.act.call.body.origin : undefined;
  const agents = useRead<AgentsReply>(
    origin === undefined ? '/agents' : `/agents?origin=${encodeURIComponent(origin)}`,
  );
  const [agent, setAgent] = useState(svc?.agent ?? '');
  const [effort, setEffort] = useState(svc?.effort ?? '');
  const [schedule, setSchedule] = useState(svc?.schedule ?? USUAL_SCHEDULE);
  const [folder, setFolder] = useState(row?.project_dir ?? '');
  const [refused, setRefused] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const words = WORDS[form];
  const list = agents.value?.agents ?? [];
  const chosen = agent === '' ? (agents.value?.default ?? '') : agent;
  const levels = list.find(({ id }) => id === chosen)?.effort_levels ?? [];
  const save = async () => {
    if (gesture.act.kind !== 'form' || busy) return;
    setBusy(true);
    const given = { agent: chosen, effort, schedule, folder: folder.trim() };
    const body = filled(gesture.act.call.body as LifecycleRequest, given);
    const answer = await send(aim, {
      call: { path: '/lifecycle', body },
      change: null,
      done: words.done,
    });
    setBusy(false);
    if (answer.ok) close();
    else setRefused(answer.message);
  };
  return (
    <Dialog title={`${words.title}: ${row?.name ?? ''}`} onClose={close}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <p className={styles.about}>{gesture.refused ?? gesture.says}</p>
        {form === 'repeat' && (
          <Field
            label="Schedule"
            hint="Minute, hour, day of the month, month, day of the week; 30 7 * * 1-5 is 07:30 on weekdays."
          >
            {(input) => (
              <input {...input} value={schedule} onChange={({ target }) => setSchedule(target.value)} />
            )}
          </Field>
        )}
        {form !== 'agent' && <FolderField value={folder} host={origin} onChange={setFolder} />}
        <Field label="Agent" error={agents.refusal?.message ?? null}>
          {(input) => (
            <select
              {...input}
              value={chosen}
              onChange={({ target }) => {
                setAgent(target.value);
                setEffort('');
              }}
            >
              {chosen !== '' && list.every(({ id }) => id !== chosen) && <option>{chosen}</option>}
              {list.map(({ id }) => (
                <option key={id}>{id}</option>
              ))}
            </select>
          )}
        </Field>
        {levels.length > 0 && (
          <Field label="Effort">
            {(input) => (
              <select {...input} value={effort} onChange={({ target }) => setEffort(target.value)}>
                <option value="">Its usual one</option>
                {levels.map((level) => (
                  <option key={level}>{level}</option>
                ))}
              </select>
            )}
          </Field>
        )}
        {refused !== null && (
          <p className={styles.refused} role="alert">
            {sentence(refused)}
          </p>
        )}
        <div className={styles.actions}>
          <Button tone="quiet" onClick={close}>
            Cancel
          </Button>
          <Button type="submit" tone="agent" disabled={busy || gesture.refused !== null}>
            {words.button}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

type Fields = { agent: string; effort: string; schedule: string; folder: string };

/** The request of a form with what was entered; an empty field leaves the choice to the daemon. */
function filled(body: LifecycleRequest, { agent, effort, schedule, folder }: Fields): LifecycleRequest {
  if (body.action === 'set-agent') return { ...body, agent, effort: effort === '' ? null : effort };
  const shape = {
    ...(agent === '' ? {} : { agent }),
    ...(effort === '' ? {} : { effort }),
    ...(folder === '' ? {} : { project_dir: folder }),
  };
  if (body.action === 'repeat') return { ...body, ...shape, schedule: schedule.trim() };
  return body.action === 'install' || body.action === 'pin' ? { ...body, ...shape } : body;
}
