import { type ReactNode, useState } from 'react';
import { chooseFolder } from '../lib/folder-dialog.ts';
import { Button } from '../ui/Button.tsx';
import { Field } from '../ui/Field.tsx';
import styles from './Forms.module.css';

type FolderFieldProps = { value: string; host: string | undefined; onChange(folder: string): void };

/** The folder that a worker is started in, by its path or in the folder dialog of the host where that has one. */
export function FolderField({ value, host, onChange }: FolderFieldProps): ReactNode {
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
            autoComplete="off"
            spellCheck={false}
            onChange={({ target }) => {
              setError(null);
              onChange(target.value);
            }}
          />
          <Button disabled={busy} onClick={() => void choose()}>
            Choose…
          </Button>
        </div>
      )}
    </Field>
  );
}
