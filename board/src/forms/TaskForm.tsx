import { type KeyboardEvent, type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import { get, post } from '../lib/api.ts';
import { awaitCapture } from '../lib/awaited-captures.ts';
import { useIsShown } from '../lib/is-shown.ts';
import { encodePictures, filesOf } from '../lib/pictures.ts';
import { sceneChanged } from '../lib/presses.ts';
import { useRead } from '../lib/reads.ts';
import { toast } from '../lib/toasts.ts';
import { go } from '../lib/url.ts';
import { ModeField } from '../meeting/ModeField.tsx';
import { startMeeting, useMeeting } from '../meeting/meeting.ts';
import { Running } from '../meeting/Running.tsx';
import { missingAgents } from '../model/first-run.ts';
import { refusedMeeting, SELDOM_MS } from '../model/meeting.ts';
import { pictureFault } from '../model/picture-rules.ts';
import {
  captureRequest,
  effortsOf,
  fieldOf,
  storeOf,
  type TaskDraft,
  type TaskField,
  type TaskKind,
} from '../model/task.ts';
import { titleOf } from '../model/task-text.ts';
import type { AgentsReply, Captured, DoctorReply, FiberStores, Meeting, Rehearsal } from '../model/wire.ts';
import { Button } from '../ui/Button.tsx';
import { Dialog } from '../ui/Dialog.tsx';
import { Field } from '../ui/Field.tsx';
import { RehearsalView } from '../ui/RehearsalView.tsx';
import { useKeptTask } from './kept-task.ts';
import { Pictures } from './Pictures.tsx';
import { ProjectPicker } from './ProjectPicker.tsx';
import { rehearse, sendTask, type Task } from './send-task.ts';
import styles from './TaskForm.module.css';

const API = { get, post };
const KINDS: readonly { kind: TaskKind; name: string; does: string }[] = [
  { kind: 'stash', name: 'Stash', does: 'Files a draft. Nothing starts.' },
  { kind: 'capture', name: 'Capture', does: 'A worker files it and begins at once.' },
];

/** A task as it is sent, and the files that its pictures were made of. */
type ReadyTask = Task & { files: readonly File[] };
type Fault = { field: TaskField | null; message: string; code: string };

/** Writes a task, to stash it as a draft or to give it to a worker. What is written outlives the page. */
export default function TaskForm({ kind }: { kind: TaskKind }): ReactNode {
  const kept = useKeptTask();
  const { draft, change, pictures } = kept;
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<Fault | null>(null);
  const [reviewed, setReviewed] = useState<{ task: ReadyTask; rehearsal: Rehearsal } | null>(null);
  const edits = useRef(0);
  const isShown = useIsShown();
  const [running, setRunning] = useState<Meeting | null>(null);
  const stores = useRead<FiberStores>('/fiber-stores');
  const host = draft.host === '' ? (stores.value?.host ?? '') : draft.host;
  const origin = stores.value?.origins[host];
  const agents = useRead<AgentsReply>(
    draft.host === '' ? '/agents' : `/agents?origin=${encodeURIComponent(draft.host)}`,
  );
  const doctor = useRead<DoctorReply>(draft.host === '' ? '/doctor' : null);
  // A second press of what asked for it does not launch it.
  useLayoutEffect(() => {
    if (reviewed !== null) sceneChanged();
  }, [reviewed]);
  const close = () => go({ sheet: null });
  const edited = () => {
    edits.current += 1;
    setFault(null);
    setReviewed(null);
  };
  const set = (next: Partial<TaskDraft>) => {
    edited();
    setRunning(null);
    change(next);
  };

  const refuse = (code: string, message: string) => {
    setFault({ code, message, field: fieldOf({ code, message }) });
    setReviewed(null);
  };

  const readyTask = async (): Promise<ReadyTask | null> => {
    const missing = missingOf(kind, draft);
    const wrong = pictureFault(pictures);
    if (missing !== null) setFault(missing);
    else if (wrong !== null) setFault({ code: '', message: wrong, field: 'pictures' });
    else if (kind === 'capture' && draft.meeting !== '' && pictures.length > 0)
      setFault({ code: '', message: NO_PICTURES, field: 'pictures' });
    else
      return {
        kind,
        draft,
        host,
        store: storeOf(origin?.stores ?? [], draft),
        pictures: await encodePictures(pictures),
        files: pictures,
      };
    return null;
  };

  const send = async () => {
    const task = reviewed?.task ?? (await readyTask());
    if (task === null) return;
    if (kind === 'capture' && task.draft.meeting !== '') return record(task);
    const sent = await sendTask(task, kept.progress, API, Date.now);
    if (sent.kind === 'refused') {
      kept.setProgress(sent.progress);
      refuse(sent.refusal.code, sent.refusal.message);
      return;
    }
    const title = titleOf(task.draft.text);
    const whole = kept.sent(task.draft.text, task.files);
    if (!whole) setReviewed(null);
    else if (isShown()) close();
    if (sent.kind === 'captured') {
      awaitCapture(sent.run_id, title);
      toast(`A worker files “${title}”. It is told here when its fiber is there.`);
    } else
      toast(sent.started ? `A worker has begun with “${title}”.` : `“${title}” is among the drafts.`, {
        action: { text: 'Open', run: () => go({ fiber: sent.id }) },
      });
  };

  const record = async ({ draft: sent, store, files }: ReadyTask) => {
    const started = await startMeeting<Captured>('/capture', captureRequest(sent, store));
    setRunning(started.ok || started.recording ? null : started.meeting);
    if (!started.ok && !started.recording) return refuse(started.code, started.message);
    if (isShown()) go({ sheet: 'meeting' });
    if (started.ok) {
      kept.sent(sent.text, files);
      awaitCapture(started.value.run_id, titleOf(sent.text));
    } else {
      // Its text is still to be captured; the recording is there.
      change({ meeting: '' });
      toast(`${started.message} The recording goes on all the same.`, { tone: 'fault' });
    }
  };

  const review = async () => {
    const before = edits.current;
    const task = await readyTask();
    if (task === null) return;
    const answer = await rehearse(task, API);
    // It is about a task that is no longer what is written.
    if (edits.current !== before) return;
    if (answer.ok) setReviewed({ task, rehearsal: answer.value });
    else {
      setRunning(refusedMeeting(answer.body).meeting);
      refuse(answer.code, answer.message);
    }
  };

  const run = (step: () => Promise<void>) => async () => {
    if (busy) return;
    setBusy(true);
    setFault(null);
    try {
      await step();
    } catch (error) {
      setFault({ code: '', field: null, message: error instanceof Error ? error.message : String(error) });
    } finally {
      setBusy(false);
    }
  };

  const submit = run(kind === 'stash' || reviewed !== null ? send : review);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    void submit();
  };
  const errorOf = (field: TaskField) => (fault?.field === field ? fault.message : null);
  const addPictures = (files: readonly File[]) => {
    if (files.length === 0) return false;
    edited();
    kept.setPictures([...pictures, ...files]);
    return true;
  };

  return (
    <Dialog title={KINDS.find((one) => one.kind === kind)?.name ?? ''} onClose={close}>
      {(id) => (
        <form
          className={styles.form}
          noValidate
          onKeyDown={onKeyDown}
          onSubmit={(event) => {
            event.preventDefault();
            void submit();
          }}
          onDragOver={(event) => {
            if (event.dataTransfer.types.includes('Files')) event.preventDefault();
          }}
          onDrop={(event) => {
            if (addPictures(filesOf(event.dataTransfer))) event.preventDefault();
          }}
          onPaste={(event) => {
            if (addPictures(filesOf(event.clipboardData))) event.preventDefault();
          }}
        >
          <Kinds kind={kind} id={id} locked={busy} />
          {reviewed === null ? (
            <div className={styles.fields}>
              <TextField draft={draft} set={set} error={errorOf('text')} kind={kind} />
              <div className={styles.row}>
                <ProjectPicker
                  origin={origin}
                  host={draft.host}
                  value={draft.project}
                  required={kind === 'capture'}
                  error={errorOf('project')}
                  onChange={(project) => set({ project })}
                />
                {(origin?.stores.length ?? 0) > 1 && (
                  <StoreField
                    draft={draft}
                    stores={origin?.stores ?? []}
                    set={set}
                    error={errorOf('store')}
                  />
                )}
                <HostField stores={stores.value} draft={draft} set={set} />
              </div>
              {kind === 'capture' && <MeetingField draft={draft} set={set} error={errorOf('meeting')} />}
              <div className={styles.row}>
                <AgentFields
                  draft={draft}
                  agents={agents.value}
                  doctor={doctor.value}
                  set={set}
                  errorOf={errorOf}
                />
              </div>
              <Pictures
                pictures={pictures}
                error={errorOf('pictures')}
                onAdd={addPictures}
                onRemove={(gone) => {
                  edited();
                  kept.setPictures(pictures.filter((one) => one !== gone));
                }}
              />
              {errorOf('store') !== null && (origin?.stores.length ?? 0) < 2 && (
                <p className={styles.fault}>{errorOf('store')}</p>
              )}
            </div>
          ) : (
            <div className={styles.fields}>
              <RehearsalView rehearsal={reviewed.rehearsal} />
              {pictures.length > 0 && (
                <p className={styles.note}>
                  Pictures belong to a fiber: the board files it first, with {countOf(pictures.length)}, and
                  then starts its worker.
                </p>
              )}
            </div>
          )}
          {running !== null && (
            <div className={styles.fields}>
              <Running
                meeting={running}
                open={() => go({ sheet: 'meeting' })}
                stopped={() => {
                  setRunning(null);
                  setFault(null);
                }}
              />
            </div>
          )}
          {running === null && fault !== null && fault.field === null && (
            <p className={styles.fault} role="alert">
              {fault.code === 'no_answer'
                ? 'It is not known to have arrived, and nothing of it is lost. Sent again, it is first looked for.'
                : fault.message}
            </p>
          )}
          <footer className={styles.footer}>
            <p className={styles.hint}>
              {kept.progress.filed !== null
                ? `Filed as ${kept.progress.filed.id}; the rest is still to be sent.`
                : ''}
            </p>
            <Button tone="quiet" onClick={reviewed === null ? close : () => setReviewed(null)}>
              {reviewed === null ? 'Close' : 'Back'}
            </Button>
            <Button
              key={reviewed === null ? 'write' : 'launch'}
              type="submit"
              tone="agent"
              disabled={busy}
              autoFocus={reviewed !== null}
            >
              {submitWords(kind, reviewed !== null, busy, fault?.code === 'no_answer')}
            </Button>
          </footer>
        </form>
      )}
    </Dialog>
  );
}

function submitWords(kind: TaskKind, rehearsed: boolean, busy: boolean, again: boolean): string {
  if (busy) return kind === 'stash' ? 'Stashing…' : rehearsed ? 'Launching…' : 'Checking…';
  if (again) return 'Send again';
  return kind === 'stash' ? 'Stash it' : rehearsed ? 'Launch' : 'Review launch';
}

function missingOf(kind: TaskKind, { text, project, meeting }: TaskDraft): Fault | null {
  if (text.trim() === '' && (kind === 'stash' || meeting === ''))
    return { code: '', field: 'text', message: 'Write at least a title.' };
  if (kind === 'capture' && project === '')
    return { code: '', field: 'project', message: 'Choose the folder that its worker runs in.' };
  return null;
}

const NO_PICTURES = 'A meeting takes no pictures: add them to its fiber once that is there.';

function countOf(pictures: number): string {
  return pictures === 1 ? 'its picture' : `its ${pictures} pictures`;
}

function Kinds({ kind, id, locked }: { kind: TaskKind; id: string; locked: boolean }): ReactNode {
  const does = KINDS.find((one) => one.kind === kind)?.does;
  return (
    <header className={styles.head}>
      <h2 id={id} className={styles.heading}>
        {kind === 'stash' ? 'Stash a draft' : 'Capture a task'}
      </h2>
      <div className={styles.kinds}>
        {KINDS.map(({ kind: one, name }) => (
          <button
            key={one}
            type="button"
            aria-pressed={one === kind}
            disabled={locked}
            onClick={() => go({ sheet: one }, { replace: true })}
          >
            {name}
          </button>
        ))}
      </div>
      <p className={styles.does}>{does}</p>
    </header>
  );
}

/** Whether the capture is of a meeting; told with what is amiss where this host cannot record any. */
function MeetingField({ draft, set, error }: FieldProps & { error: string | null }): ReactNode {
  const { answer } = useMeeting(SELDOM_MS);
  if (answer === null) return null;
  const modes = answer.modes;
  return (
    <ModeField
      label="Record a meeting"
      modes={modes}
      value={modes.find((one) => one === draft.meeting) ?? ''}
      none={modes.length === 0 ? 'This host cannot' : 'No'}
      error={error}
      hint={
        modes.length === 0
          ? (answer.unavailable ?? undefined)
          : draft.meeting === ''
            ? undefined
            : 'This host records it. The task may be left empty; its first line is the title.'
      }
      onChange={(meeting) => set({ meeting })}
    />
  );
}

type FieldProps = { draft: TaskDraft; set(change: Partial<TaskDraft>): void };

function TextField({
  draft,
  set,
  error,
  kind,
}: FieldProps & { error: string | null; kind: TaskKind }): ReactNode {
  return (
    <Field label="Task" error={error} hint="The first line is its title.">
      {(input) => (
        <textarea
          {...input}
          className={`${input.className} ${styles.text}`}
          data-autofocus
          rows={7}
          value={draft.text}
          placeholder={kind === 'stash' ? 'An idea, and what is known of it' : 'What is to be done'}
          onChange={({ target }) => set({ text: target.value })}
        />
      )}
    </Field>
  );
}

function StoreField({
  draft,
  stores,
  set,
  error,
}: FieldProps & { stores: readonly string[]; error: string | null }): ReactNode {
  return (
    <Field label="Filed in" error={error}>
      {(input) => (
        <select
          {...input}
          value={storeOf(stores, draft)}
          onChange={({ target }) => set({ store: target.value })}
        >
          {stores.map((root) => (
            <option key={root}>{root}</option>
          ))}
        </select>
      )}
    </Field>
  );
}

function HostField({ stores, draft, set }: FieldProps & { stores: FiberStores | undefined }): ReactNode {
  const hosts = Object.keys(stores?.origins ?? {});
  if (hosts.length < 2) return null;
  return (
    <Field label="Host">
      {(input) => (
        <select
          {...input}
          value={draft.host === '' ? stores?.host : draft.host}
          onChange={({ target }) =>
            // Folders, stores and agents are those of a host.
            set({
              host: target.value === stores?.host ? '' : target.value,
              project: '',
              store: '',
              agent: '',
              effort: '',
            })
          }
        >
          {hosts.map((host) => (
            <option key={host}>{host}</option>
          ))}
        </select>
      )}
    </Field>
  );
}

type AgentFieldsProps = FieldProps & {
  agents: AgentsReply | undefined;
  /** Of the host of the task; undefined where it is another one. */
  doctor: DoctorReply | undefined;
  errorOf(field: TaskField): string | null;
};

function AgentFields({ draft, agents, doctor, set, errorOf }: AgentFieldsProps): ReactNode {
  const { levels, usual } = effortsOf(agents, draft);
  const ids = agents?.agents.map(({ id }) => id) ?? [];
  const missing = doctor === undefined || agents === undefined ? null : missingAgents(doctor, agents);
  const nameOf = (id: string) => (missing?.has(id) === true ? `${id}: its program is not found` : id);
  const efforts = draft.effort === '' || levels.includes(draft.effort) ? levels : [draft.effort, ...levels];
  return (
    <>
      <Field label="Agent" error={errorOf('agent')}>
        {(input) => (
          <select
            {...input}
            value={draft.agent}
            onChange={({ target }) => set({ agent: target.value, effort: '' })}
          >
            <option value="">
              {agents?.default ? `${nameOf(agents.default)} (default)` : 'The default one'}
            </option>
            {(draft.agent === '' || ids.includes(draft.agent) ? ids : [draft.agent, ...ids])
              .filter((id) => id !== agents?.default)
              .map((id) => (
                <option key={id} value={id}>
                  {nameOf(id)}
                </option>
              ))}
          </select>
        )}
      </Field>
      {(efforts.length > 0 || errorOf('effort') !== null) && (
        <Field label="Effort" error={errorOf('effort')}>
          {(input) => (
            <select {...input} value={draft.effort} onChange={({ target }) => set({ effort: target.value })}>
              <option value="">{usual === null ? 'Its usual one' : `${usual} (default)`}</option>
              {efforts.map((level) => (
                <option key={level}>{level}</option>
              ))}
            </select>
          )}
        </Field>
      )}
      <Field label="Runs in" error={errorOf('surface')}>
        {(input) => (
          <select
            {...input}
            value={draft.surface}
            onChange={({ target }) => set({ surface: target.value === 'app' ? 'app' : 'cli' })}
          >
            <option value="cli">A terminal</option>
            <option value="app">An app conversation</option>
          </select>
        )}
      </Field>
    </>
  );
}
