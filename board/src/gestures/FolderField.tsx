import { type ReactNode, useId, useState } from 'react';
import { chooseFolder } from '../lib/folder-dialog.ts';
import { useRead } from '../lib/reads.ts';
import { projectChoices } from '../model/task.ts';
import type { FiberStores } from '../model/wire.ts';
import { Button } from '../ui/Button.tsx';
import { Field } from '../ui/Field.tsx';
import styles from './Forms.module.css';

type FolderFieldProps = { value: string; host: string | undefined; onChange(folder: string): void };

/**
 * The folder that a worker is started in: one of the projects of the host, another path, or one from the folder dialog of
 * the host where that has one.
 */
export function FolderField({ value, host, onChange }: FolderFieldProps): ReactNode {
  const projects = useId();
  const stores = useRead<FiberStores>('/fiber-stores').value;
  const choices = projectChoices(stores?.origins[host ?? stores.host], '');
  const [error, setError] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const choose = async () => {
    setBusy(true);
    const answer = await chooseFolder('Where shall it work?', host);
    setBusy(false);
    if (!answer.ok) setError(answer.message);
    else if (answer.value.ok) onChange(answer.value.path);
  };
  return (
    <Field label="Project folder" error={error} hint="As the host has it, such as ~/my-project.">
      {(input) => (
        <div className={styles.beside}>
          <input
            {...input}
            value={value}
            list={projects}
            autoComplete="off"
            spellCheck={false}
            onChange={({ target }) => {
              setError(null);
              onChange(target.value);
            }}
          />
          <datalist id={projects}>
            {choices.map((path) => (
              <option key={path} value={path} />
            ))}
          </datalist>
          <Button disabled={busy} onClick={() => void choose()}>
            Choose…
          </Button>
        </div>
      )}
    </Field>
  );
}
