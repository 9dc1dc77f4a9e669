import { type ReactNode, useState } from 'react';
import { post } from '../lib/api.ts';
import { chooseFolder } from '../lib/folder-dialog.ts';
import { readAgain } from '../lib/reads.ts';
import { toast } from '../lib/toasts.ts';
import { folderName } from '../model/folder-name.ts';
import { projectChoices } from '../model/task.ts';
import type { ProjectsWritten, StoreOrigin } from '../model/wire.ts';
import { Button } from '../ui/Button.tsx';
import { Field } from '../ui/Field.tsx';
import styles from './ProjectPicker.module.css';

type ProjectPickerProps = {
  origin: StoreOrigin | undefined;
  /** The host whose folders these are; empty for that of the page. */
  host: string;
  value: string;
  required: boolean;
  error: string | null;
  onChange(project: string): void;
};

const ADD = 'add';

/** The folder that a task is for, among those the host knows, or one that is added. */
export function ProjectPicker({
  origin,
  host,
  value,
  required,
  error,
  onChange,
}: ProjectPickerProps): ReactNode {
  const [adding, setAdding] = useState(false);
  const choices = projectChoices(origin, value);
  const names = new Map(choices.map((path) => [path, folderName(path)]));
  const named = (path: string) => {
    const name = names.get(path) ?? path;
    return [...names.values()].filter((one) => one === name).length === 1 ? name : path;
  };
  return (
    <>
      <Field label="Project" error={error} hint={value}>
        {(input) => (
          <select
            {...input}
            value={value}
            onChange={({ target }) => {
              // No path is relative, so that none is this word.
              if (target.value === ADD) setAdding(true);
              else onChange(target.value);
            }}
          >
            <option value="">{required ? 'Choose a project' : 'None yet'}</option>
            {choices.map((path) => (
              <option key={path} value={path}>
                {named(path)}
              </option>
            ))}
            <option value={ADD}>Add a project…</option>
          </select>
        )}
      </Field>
      {adding && (
        <AddProject
          host={host}
          dialog={origin?.native_folder_picker === true}
          onDone={(path) => {
            setAdding(false);
            if (path !== null) onChange(path);
          }}
        />
      )}
    </>
  );
}

type AddProjectProps = {
  host: string;
  /** Whether the host can show a folder dialog. */
  dialog: boolean;
  name?: string;
  onDone(path: string | null): void;
};

/** Names a folder by its path, or in the dialog of a host that has one. */
export function AddProject({
  host,
  dialog,
  name = 'Folder of the project',
  onDone,
}: AddProjectProps): ReactNode {
  const [path, setPath] = useState('');
  const [error, setError] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const origin = host === '' ? {} : { origin: host };
  const add = async (folder: string) => {
    if (folder.trim() === '') return setError('Write the path of a folder, such as ~/my-project.');
    setBusy(true);
    const answer = await post<ProjectsWritten>('/projects', { path: folder.trim(), ...origin });
    setBusy(false);
    if (!answer.ok) return setError(answer.message);
    readAgain('/fiber-stores');
    if (answer.value.note !== null) toast(answer.value.note);
    onDone(answer.value.project);
  };
  const choose = async () => {
    setBusy(true);
    const answer = await chooseFolder('Choose the folder of a project', host);
    setBusy(false);
    if (!answer.ok) return setError(answer.message);
    if (answer.value.ok) await add(answer.value.path);
  };
  return (
    <div className={styles.add}>
      <Field label={name} error={error} hint="A folder that holds no fibers yet gets a place for them.">
        {(input) => (
          <input
            {...input}
            // biome-ignore lint/a11y/noAutofocus: it was asked for a moment ago.
            autoFocus
            value={path}
            placeholder="~/my-project"
            autoComplete="off"
            spellCheck={false}
            onChange={({ target }) => {
              setError(null);
              setPath(target.value);
            }}
            onKeyDown={(event) => {
              if (event.key !== 'Enter' || event.ctrlKey || event.metaKey) return;
              event.preventDefault();
              void add(path);
            }}
          />
        )}
      </Field>
      <div className={styles.buttons}>
        {dialog && (
          <Button disabled={busy} onClick={() => void choose()}>
            Choose a folder…
          </Button>
        )}
        <Button disabled={busy} onClick={() => void add(path)}>
          Add
        </Button>
        <Button tone="quiet" onClick={() => onDone(null)}>
          Cancel
        </Button>
      </div>
    </div>
  );
}
