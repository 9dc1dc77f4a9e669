import type { FolderChoice } from '../model/wire.ts';
import { type Answer, post } from './api.ts';

/** A person may take minutes to choose a folder. */
const CHOOSE_MS = 330_000;

/** Opens the folder dialog of a host, or of the one that answers, and waits until a person has chosen. */
export function chooseFolder(title: string, host: string | undefined): Promise<Answer<FolderChoice>> {
  const asked = { title, ...(host === undefined || host === '' ? {} : { origin: host }) };
  return post<FolderChoice>('/choose-folder', asked, { timeout_ms: CHOOSE_MS });
}
