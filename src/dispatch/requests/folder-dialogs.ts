import { CodedError } from '../../base/errors.ts';
import { FOLDER_DIALOG_MS, type FolderChoice } from '../../contract/http/config.ts';
import { hasMacDesktop } from '../../platform/desktop-session.ts';
import { chooseFolder, type FolderPicker, findFolderPicker } from '../../platform/folder-picker.ts';
import type { ProcessRunner } from '../../platform/process.ts';

/** The folder dialog of this host (WPL-20): one at a time, since one person sits before it. */
export class FolderDialogs {
  readonly #runner: Pick<ProcessRunner, 'run'>;
  readonly #env: NodeJS.ProcessEnv;
  readonly #limit_ms: number;
  #open: { name: string; end: AbortController } | null = null;

  constructor(options: {
    runner: Pick<ProcessRunner, 'run'>;
    env: NodeJS.ProcessEnv;
    /** How long a person may take, in milliseconds; five minutes unless given (LIM-13). */
    limit_ms?: number;
  }) {
    this.#runner = options.runner;
    this.#env = options.env;
    this.#limit_ms = options.limit_ms ?? FOLDER_DIALOG_MS;
  }

  /** The program that would be asked; null where there is none. */
  find(desktop: boolean): Promise<FolderPicker | null> {
    return findFolderPicker({ platform: process.platform, env: this.#env, desktop });
  }

  /**
   * Opens the dialog and waits for the person. Throws `folder_picker_unavailable`, `dialog_open`, and
   * `deadline_exceeded` when nobody answers.
   */
  async ask(name: string, options: { title: string; start: string }): Promise<FolderChoice> {
    const desktop = await hasMacDesktop({ platform: process.platform, runner: this.#runner });
    const picker = await this.find(desktop);
    if (picker === null)
      throw new CodedError(
        'folder_picker_unavailable',
        'this host has no folder picker: it needs a desktop, and zenity or kdialog on Linux; type the path instead',
      );
    if (this.#open !== null)
      throw new CodedError('dialog_open', 'a folder dialog is open on this host; answer it or close it');
    const end = new AbortController();
    this.#open = { name, end };
    try {
      const answer = await chooseFolder(picker, {
        ...options,
        runner: this.#runner,
        timeout_ms: this.#limit_ms,
        signal: end.signal,
      });
      if (end.signal.aborted || answer.kind === 'cancelled') return { ok: false, cancelled: true };
      if (answer.kind === 'chosen') return { ok: true, path: answer.path };
      if (answer.kind === 'unanswered')
        throw new CodedError(
          'deadline_exceeded',
          `nobody answered the folder dialog within ${this.#limit_ms / 1000} s; ask again`,
        );
      throw new CodedError(
        'folder_picker_unavailable',
        `the folder picker of this host could not be shown (${answer.detail}); type the path instead`,
      );
    } finally {
      this.#open = null;
    }
  }

  /** Takes the dialog of that name away; whoever asked is gone. */
  end(name: string): void {
    if (this.#open?.name === name) this.#open.end.abort();
  }

  stop(): void {
    this.#open?.end.abort();
  }
}
