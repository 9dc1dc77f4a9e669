import { type ReactNode, useEffect, useId, useState } from 'react';
import { filesOf } from '../lib/pictures.ts';
import { PICTURE_TYPES } from '../model/picture-rules.ts';
import styles from './Pictures.module.css';

type PicturesProps = {
  pictures: readonly File[];
  error: string | null;
  onAdd(files: readonly File[]): void;
  onRemove(picture: File): void;
};

/** The pictures of a task. They are pasted and dropped anywhere in its form, or chosen here. */
export function Pictures({ pictures, error, onAdd, onRemove }: PicturesProps): ReactNode {
  const id = useId();
  return (
    <div className={styles.pictures}>
      {pictures.length > 0 && (
        <ul className={styles.list} aria-label="Pictures">
          {pictures.map((picture, index) => (
            <Thumbnail
              // biome-ignore lint/suspicious/noArrayIndexKey: the same file can be there twice.
              key={`${index} ${picture.name}`}
              picture={picture}
              onRemove={() => onRemove(picture)}
            />
          ))}
        </ul>
      )}
      <div className={styles.add}>
        <input
          id={id}
          type="file"
          multiple
          accept={PICTURE_TYPES.join(',')}
          aria-describedby={`${id}-below`}
          onChange={({ target }) => {
            onAdd([...(target.files ?? [])]);
            target.value = '';
          }}
          onDrop={(event) => {
            event.preventDefault();
            event.stopPropagation();
            onAdd(filesOf(event.dataTransfer));
          }}
        />
        <label htmlFor={id}>Add pictures</label>
        <p id={`${id}-below`} className={error === null ? styles.hint : styles.error}>
          {error ?? 'or paste or drop them here'}
        </p>
      </div>
    </div>
  );
}

function Thumbnail({ picture, onRemove }: { picture: File; onRemove(): void }): ReactNode {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    const made = URL.createObjectURL(picture);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [picture]);
  return (
    <li className={styles.picture}>
      {url !== undefined && <img src={url} alt={picture.name || 'Pasted picture'} />}
      <button type="button" onClick={onRemove} aria-label={`Remove ${picture.name || 'the picture'}`}>
        <svg width="10" height="10" viewBox="0 0 10 10" aria-hidden="true">
          <path d="m2 2 6 6m0-6-6 6" />
        </svg>
      </button>
    </li>
  );
}
