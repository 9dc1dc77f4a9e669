import { useEffect, useState } from 'react';
import { keepFiles, keptFiles } from '../lib/kept-files.ts';
import { EMPTY_TASK, nextTask, parseTask, type TaskDraft } from '../model/task.ts';
import { NO_PROGRESS, type Progress } from './send-task.ts';

const DRAFT = 'task-draft';
const PROGRESS = 'task-progress';
const PICTURES = 'task';

export type KeptTask = {
  draft: TaskDraft;
  change(change: Partial<TaskDraft>): void;
  pictures: readonly File[];
  setPictures(pictures: readonly File[]): void;
  progress: Progress;
  setProgress(progress: Progress): void;
  /** Forgets the task, which was sent; the next one begins with its host, project and store. */
  sent(): void;
};

/** The task that is being written, which outlives the page until it is sent. */
export function useKeptTask(): KeptTask {
  const [draft, setDraft] = useState(() => parseTask(localStorage.getItem(DRAFT)) ?? EMPTY_TASK);
  const [progress, setProgress] = useState(keptProgress);
  const [pictures, setPictures] = useState<readonly File[]>([]);
  useEffect(() => {
    let here = true;
    void keptFiles(PICTURES).then((files) => here && setPictures((now) => (now.length === 0 ? files : now)));
    return () => {
      here = false;
    };
  }, []);
  const keepDraft = (next: TaskDraft) => {
    keep(DRAFT, next);
    setDraft(next);
  };
  const keepProgress = (next: Progress) => {
    keep(PROGRESS, next);
    setProgress(next);
  };
  const keepPictures = (next: readonly File[]) => {
    void keepFiles(PICTURES, next);
    setPictures(next);
  };
  return {
    draft,
    change: (change) => keepDraft({ ...draft, ...change }),
    pictures,
    setPictures: keepPictures,
    progress,
    setProgress: keepProgress,
    sent() {
      keepDraft(nextTask(draft));
      keepProgress(NO_PROGRESS);
      keepPictures([]);
    },
  };
}

function keptProgress(): Progress {
  try {
    const kept = JSON.parse(localStorage.getItem(PROGRESS) ?? 'null') as Partial<Progress> | null;
    const { unsure_since = null, filed = null } = kept ?? {};
    return { unsure_since, filed };
  } catch {
    return NO_PROGRESS;
  }
}

/** A full or forbidden storage must not keep anybody from writing. */
function keep(key: string, value: unknown): void {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // What is on the page stays there.
  }
}
