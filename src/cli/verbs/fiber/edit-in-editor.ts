import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { CodedError, isCoded, messageOf } from '../../../base/errors.ts';
import { shellLine, shellWord } from '../../../base/shell-word.ts';
import { type DocumentWithBody, MAX_DOCUMENT_BYTES } from '../../../fibers/document.ts';
import type { FoundFiber } from '../../../fibers/find-fiber.ts';
import { findExecutable } from '../../../platform/find-executable.ts';
import { runInTerminal } from '../../../platform/interactive-process.ts';
import { readRegularText } from '../../../platform/regular-file.ts';
import type { CliContext } from '../../command-line/verb.ts';

/** Editors that are tried where the environment names none. */
const USUAL = ['editor', 'nano', 'vi'] as const;

/** Opens a file in an editor and resolves with its exit code when it is closed. */
export type OpenEditor = (path: string) => Promise<number>;

/** The document as it was written; null if the person left it as it was. */
export type EditedFiber = { fiber: DocumentWithBody; changed: boolean };

/**
 * Has a person edit the whole document in an editor, in a copy, and writes it in one step if nobody else has changed it
 * since. What cannot be written is kept in that copy, and the error says where. Throws `conflict`, `invalid_request`, `locked`.
 */
export async function editInEditor(
  { store, id }: FoundFiber,
  svc: string,
  open: OpenEditor,
): Promise<EditedFiber> {
  const { path, digest, leaf } = store.read(id);
  const before = store.readBytes(path).toString('utf8');
  const copy = join(mkdtempSync(join(tmpdir(), 'svc-edit-')), `${leaf}.md`);
  writeFileSync(copy, before, { mode: 0o600 });
  const forget = () => rmSync(dirname(copy), { recursive: true, force: true });
  const code = await open(copy);
  const kept = `your text is kept in ${copy}`;
  try {
    const text = await readRegularText(copy, MAX_DOCUMENT_BYTES);
    if (text === before) {
      forget();
      if (code === 0) return { fiber: store.read(id), changed: false };
      throw new CodedError('invalid_request', `the editor ended with exit code ${code}; ${id} is as it was`);
    }
    if (code !== 0)
      throw new CodedError(
        'invalid_request',
        `the editor ended with exit code ${code}, so nothing is written`,
      );
    const fiber = await store.replace(id, text, digest);
    forget();
    return { fiber, changed: true };
  } catch (error) {
    if (!existsSync(copy)) throw error;
    const again = `${svc} fiber edit ${shellWord(id)}`;
    const mend = isCoded(error, 'conflict')
      ? `${id} was changed while you edited it, and is not overwritten; ${kept}. See the difference with: ${shellLine(['diff', path, copy])}, then take over what you want with: ${again}`
      : `${messageOf(error)}; ${kept}. Fix it there, and take it over with: ${again}`;
    const [code, details] = isCoded(error) ? [error.code, error.details] : ['internal', {}];
    throw new CodedError(code, mend, { details: { ...details, kept: copy }, cause: error });
  }
}

/** The editor of this person, as `$VISUAL` and `$EDITOR` name it, with arguments. Throws `not_found` if there is none. */
export async function personsEditor({ env, cwd }: Pick<CliContext, 'env' | 'cwd'>): Promise<OpenEditor> {
  const named = [env.VISUAL, env.EDITOR].find((one) => one !== undefined && one.trim() !== '');
  let command = named;
  for (const one of USUAL)
    if (command === undefined && (await findExecutable(one, env.PATH ?? '')) !== null) command = one;
  if (command === undefined)
    throw new CodedError('not_found', 'no editor is installed; name one, such as: EDITOR=nano');
  // As Git does: the variable may hold arguments, and the shell reads them.
  return (path) => runInTerminal({ file: '/bin/sh', args: ['-c', `${command} "$1"`, 'svc', path], env, cwd });
}
