import { type ReactNode, useState } from 'react';
import { keepDraft, keptDrafts } from '../lib/drafts.ts';
import { keptTexts } from '../model/kept-texts.ts';
import { Button } from '../ui/Button.tsx';
import { Field } from '../ui/Field.tsx';
import styles from './KeptTexts.module.css';

/** What was written for a fiber that cannot be shown, to be copied or discarded. */
export default function KeptTexts({ fiber, origin }: { fiber: string; origin: string | null }): ReactNode {
  const [texts, setTexts] = useState(() => keptTexts(keptDrafts(), fiber, origin));
  return texts.map(({ key, label, text }) => (
    <div key={key} className={styles.kept}>
      <Field label={label} hint="This browser keeps it until you discard it.">
        {(input) => <textarea {...input} rows={8} readOnly value={text} />}
      </Field>
      <Button
        onClick={() => {
          keepDraft(key, null);
          setTexts(texts.filter((one) => one.key !== key));
        }}
      >
        Discard
      </Button>
    </div>
  ));
}
