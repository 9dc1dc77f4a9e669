import { useEffect, useRef, useState } from 'react';
import { keepDraft, keptDraft, useDraft } from '../lib/drafts.ts';
import { keepFiles, keptFiles } from '../lib/kept-files.ts';
import { nextTask, parseTask, type TaskDraft } from '../model/task.ts';
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
  /**
   * Forgets what was sent; the next task begins with its host, project and store. A text that was changed and pictures
   * that were added since then stay. True if nothing is left to be sent.
   */
  sent(text: string, pictures: readonly File[]): boolean;
};

/** The task that is being written, which outlives the page until it is sent. */
export function useKeptTask(): KeptTask {
  const kept = useDraft(DRAFT);
  const [meeting, setMeeting] = useState<TaskDraft['meeting']>('');
  const progress = { ...NO_PROGRESS, ...useDraft<Progress>(PROGRESS) };
  const [pictures, setPictures] = useState<readonly File[]>([]);
  const last = useRef(pictures);
  last.current = pictures;
  useEffect(() => {
    let here = true;
    void keptFiles(PICTURES).then((files) => here && setPictures((now) => (now.length === 0 ? files : now)));
    return () => {
      here = false;
    };
  }, []);
  const keepPictures = (next: readonly File[]) => {
    void keepFiles(PICTURES, next);
    setPictures(next);
  };
  return {
    draft: { ...parseTask(kept), meeting },
    change(change) {
      keepDraft(DRAFT, { ...parseTask(keptDraft(DRAFT)), ...change });
      if (change.meeting !== undefined) setMeeting(change.meeting);
    },
    pictures,
    setPictures: keepPictures,
    progress,
    setProgress: (next) => void keepDraft(PROGRESS, next),
    sent(text, files) {
      const now = parseTask(keptDraft(DRAFT));
      const added = last.current.filter((one) => !files.includes(one));
      keepDraft(PROGRESS, null);
      keepPictures(added);
      if (now.text !== text) return false;
      keepDraft(DRAFT, nextTask(now));
      setMeeting('');
      return added.length === 0;
    },
  };
}
