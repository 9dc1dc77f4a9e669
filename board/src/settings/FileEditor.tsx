import '@fontsource-variable/atkinson-hyperlegible-mono/wght.css';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { type Answer, get, post } from '../lib/api.ts';
import { useToday } from '../lib/clock.ts';
import { usePhone } from '../lib/media.ts';
import { STATE_PATH } from '../lib/paths.ts';
import { readAgain } from '../lib/reads.ts';
import { toast } from '../lib/toasts.ts';
import { placeOfSentence } from '../model/json-place.ts';
import type { ConfigFile, ConfigWritten } from '../model/wire.ts';
import { moment } from '../model/wording.ts';
import { Button } from '../ui/Button.tsx';
import { Phrase } from '../ui/Sentence.tsx';
import { type CodeArea, openEditor, openMerge } from './code-area.ts';
import styles from './FileEditor.module.css';

/** What each file is for. */
const SAYS: Readonly<Record<string, string>> = {
  agents: 'Agents beside the built-in ones. `svc agents add` adds one.',
  stores: 'The folders whose fibers are on the board.',
  projects: 'Folders that Stash and Capture offer beside the stores.',
  remotes: 'Other hosts whose fibers are on the board too. `svc remotes add me@host` adds one.',
  host: 'The name of this host, and the limits of its workers.',
};

/** An edit that is not saved, and the text that it began from, by its digest. */
type Kept = { text: string; digest: string };

const keyOf = (id: string) => `config-${id}`;

function keptOf(id: string): Kept | null {
  try {
    const kept = JSON.parse(sessionStorage.getItem(keyOf(id)) ?? 'null') as Partial<Kept> | null;
    return typeof kept?.text === 'string' && typeof kept.digest === 'string'
      ? { text: kept.text, digest: kept.digest }
      : null;
  } catch {
    return null;
  }
}

function keep(id: string, kept: Kept | null): void {
  try {
    if (kept === null) sessionStorage.removeItem(keyOf(id));
    else sessionStorage.setItem(keyOf(id), JSON.stringify(kept));
  } catch {
    // What is on the page stays there.
  }
}

/** One operator file as text: checked by its validator, and merged where the disk has another one by now. */
export default function FileEditor({ id }: { id: string }): ReactNode {
  const [disk, setDisk] = useState<ConfigFile | null>(null);
  const [refusal, setRefusal] = useState<string | null>(null);
  const [mine, setMine] = useState<Kept | null>(() => keptOf(id));
  const [conflict, setConflict] = useState(false);
  const [sentence, setSentence] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const area = useRef<CodeArea>(null);
  const today = useToday();

  const load = async (): Promise<ConfigFile | null> => {
    const answer: Answer<ConfigFile> = await get<ConfigFile>(`/config/${id}`);
    if (!answer.ok) {
      setRefusal(answer.message);
      return null;
    }
    setRefusal(null);
    setDisk(answer.value);
    return answer.value;
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: read once for each file.
  useEffect(() => {
    void load().then((found) => {
      if (found === null) return;
      if (mine === null) setSentence(found.problem);
      else if (mine.text === found.text) change(null);
      else if (mine.digest !== found.digest) setConflict(true);
    });
  }, [id]);

  const change = (next: Kept | null) => {
    keep(id, next);
    setMine(next);
  };
  const discard = () => {
    change(null);
    setConflict(false);
    setSentence(null);
    area.current?.setText(disk?.text ?? '');
  };
  const save = async () => {
    if (busy || disk === null) return;
    const text = area.current?.text() ?? mine?.text ?? disk.text;
    setBusy(true);
    // A merge was made with what is on disk now; an edit with what was on disk when it began.
    const expected_digest = conflict ? disk.digest : (mine?.digest ?? disk.digest);
    const answer = await post<ConfigWritten>(`/config/${id}`, { text, expected_digest });
    setBusy(false);
    // What was written meanwhile is not saved yet; the editor may be closed by now.
    const now = area.current?.text() ?? keptOf(id)?.text ?? text;
    if (answer.ok) {
      const { removed, note, digest } = answer.value;
      change(now === text ? null : { text: now, digest });
      setDisk({ ...disk, text, digest });
      setConflict(false);
      setSentence(null);
      toast(`${id}.json is ${removed ? 'removed' : 'saved'}.${note === null ? '' : ` ${note}`}`);
      await load();
      for (const path of ['/agents', '/fiber-stores', STATE_PATH]) readAgain(path);
      return;
    }
    if (answer.status === 409) {
      change({ text: now, digest: mine?.digest ?? disk.digest });
      if ((await load()) !== null) setConflict(true);
      return;
    }
    setSentence(answer.message);
  };

  if (disk === null) return <p className={styles.about}>{refusal ?? 'Reading it…'}</p>;
  const text = mine?.text ?? disk.text;
  return (
    <section className={styles.editor} aria-label={`${id}.json`}>
      <header className={styles.head}>
        <h2>{id}.json</h2>
        <p>
          {disk.path}
          {disk.mtime === null ? ', not there yet' : `, changed ${moment(disk.mtime, today)}`}
        </p>
      </header>
      <p className={styles.note}>
        <Phrase>{SAYS[id] ?? ''}</Phrase>
      </p>
      {disk.overridden_by !== null && (
        <p className={styles.note}>
          {disk.overridden_by} is set where the daemon was started, and counts instead.
        </p>
      )}
      {conflict && (
        <p className={styles.merge} role="alert">
          It was changed on disk meanwhile. Your edit is kept: take lines from the disk, then save again.
        </p>
      )}
      {conflict && (
        <div className={styles.sides} aria-hidden="true">
          <span>On disk now</span>
          <span>Yours</span>
        </div>
      )}
      <Code
        key={conflict ? `merge ${disk.digest}` : 'edit'}
        area={area}
        id={id}
        text={text}
        theirs={conflict ? disk.text : null}
        sentence={sentence}
        onChange={(next) => {
          setSentence(null);
          change(
            next === disk.text && !conflict ? null : { text: next, digest: mine?.digest ?? disk.digest },
          );
        }}
        onSave={() => void save()}
      />
      {sentence !== null && (
        <p className={styles.sentence} role="alert">
          {sentence}
        </p>
      )}
      <footer className={styles.footer}>
        <p className={styles.about}>{mine === null ? '' : 'Not saved yet; kept while this tab is open.'}</p>
        <Button tone="quiet" disabled={mine === null} onClick={discard}>
          Discard mine
        </Button>
        <Button tone="agent" disabled={busy || mine === null} onClick={() => void save()}>
          {conflict ? 'Save merged' : text.trim() === '' && disk.exists ? 'Remove the file' : 'Save'}
        </Button>
      </footer>
    </section>
  );
}

type CodeProps = {
  area: { current: CodeArea | null };
  id: string;
  text: string;
  /** What is on disk, beside which `text` is merged; null for none. */
  theirs: string | null;
  sentence: string | null;
  onChange(text: string): void;
  onSave(): void;
};

function Code({ area, id, text, theirs, sentence, onChange, onSave }: CodeProps): ReactNode {
  const host = useRef<HTMLDivElement>(null);
  const narrow = usePhone();
  const current = useRef({ onChange, onSave });
  current.current = { onChange, onSave };
  // biome-ignore lint/correctness/useExhaustiveDependencies: the editor keeps its own text from here on.
  useEffect(() => {
    if (host.current === null) return;
    const edited = {
      label: theirs === null ? `${id}.json` : `Yours of ${id}.json`,
      onChange: (next: string) => current.current.onChange(next),
      onSave: () => current.current.onSave(),
    };
    const made =
      theirs === null
        ? openEditor(host.current, text, edited)
        : openMerge(host.current, { ...edited, theirs, mine: text, narrow });
    area.current = made;
    return () => {
      made.destroy();
      area.current = null;
    };
  }, [id, theirs, narrow]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: marked when it is said, in the text it was said of.
  useEffect(() => {
    const now = area.current?.text() ?? '';
    area.current?.mark(sentence === null ? null : { ...placeOfSentence(now, sentence), message: sentence });
  }, [sentence, theirs, narrow]);
  return <div ref={host} className={styles.code} />;
}
