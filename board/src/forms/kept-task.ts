import { useState } from 'react';
import { keepDraft, keptDraft, useDraft } from '../lib/drafts.ts';
import { filesNow, keepFiles, useKeptFiles } from '../lib/kept-files.ts';
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
  const pictures = useKeptFiles(PICTURES);
  return {
    draft: { ...parseTask(kept), meeting },
    change(change) {
      keepDraft(DRAFT, { ...parseTask(keptDraft(DRAFT)), ...change });
      if (change.meeting !== undefined) setMeeting(change.meeting);
    },
    pictures,
    setPictures: (next) => keepFiles(PICTURES, next),
    progress,
    setProgress: (next) => void keepDraft(PROGRESS, next),
    sent(text, files) {
      const now = parseTask(keptDraft(DRAFT));
      const added = filesNow(PICTURES).filter((one) => !files.includes(one));
      keepDraft(PROGRESS, null);
      keepFiles(PICTURES, added);
      if (now.text !== text) return false;
      keepDraft(DRAFT, nextTask(now));
      setMeeting('');
      return added.length === 0;
    },
  };
}
