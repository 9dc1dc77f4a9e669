import { appendFileSync, chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  editInEditor,
  type OpenEditor,
  personsEditor,
} from '../../../../src/cli/verbs/fiber/edit-in-editor.ts';
import { MAX_DOCUMENT_BYTES } from '../../../../src/fibers/document.ts';
import { createTempStore, type TempStore } from '../../../fixtures/fibers/temp-store.ts';
import { createMachine, type Machine } from '../../kit.ts';

let temp: TempStore;
let copies: string[];
beforeEach(async () => {
  temp = createTempStore();
  copies = [];
  await temp.store.create({ name: 'Say hello', slug: 'a', body: 'One.\n' });
});
afterEach(() => {
  temp.remove();
  for (const copy of copies) rmSync(dirname(copy), { recursive: true, force: true });
});

const path = () => temp.store.read('a').path;
const text = () => readFileSync(path(), 'utf8');
/** An editor that does this with the copy. */
const editor =
  (act: (copy: string) => void, code = 0): OpenEditor =>
  async (copy) => {
    copies.push(copy);
    act(copy);
    return code;
  };
const edit = (open: OpenEditor) => editInEditor({ store: temp.store, id: 'a' }, 'svc', open);
const isKept = () => copies.map((copy) => existsSync(copy));

describe('a fiber in an editor', () => {
  it('is written byte for byte when the editor is closed, and the copy is removed', async () => {
    const before = text();
    const { fiber, changed } = await edit(editor((copy) => appendFileSync(copy, 'Two.\n')));
    expect(text()).toBe(`${before}Two.\n`);
    expect([changed, fiber.body, isKept()]).toEqual([true, 'One.\nTwo.\n', [false]]);
  });

  it('is left alone where nothing was changed', async () => {
    const before = text();
    expect(await edit(editor(() => {}))).toMatchObject({ changed: false });
    await expect(edit(editor(() => {}, 1))).rejects.toThrow('a is as it was');
    expect([text(), ...isKept()]).toEqual([before, false, false]);
  });

  it('[P5] is not overwritten where another changed it, and the text is kept', async () => {
    const other = editor((copy) => {
      appendFileSync(copy, 'Mine.\n');
      appendFileSync(path(), 'Theirs.\n');
    });
    await expect(edit(other)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(
        /^a was changed while you edited it, .* kept in (\/\S+)\. See the difference with: diff \S+ \1, then .*: svc fiber edit a$/,
      ),
    });
    expect(text()).toContain('Theirs.');
    expect(text()).not.toContain('Mine.');
    expect(readFileSync(copies[0]!, 'utf8')).toContain('Mine.');
  });

  it('is not written with a text that is no fiber, nor after an editor that failed', async () => {
    const before = text();
    await expect(edit(editor((copy) => writeFileSync(copy, '---\nname: [\n---\n')))).rejects.toMatchObject({
      message: expect.stringContaining(`your text is kept in`),
    });
    await expect(edit(editor((copy) => appendFileSync(copy, 'x'), 1))).rejects.toThrow('nothing is written');
    expect([text(), ...isKept()]).toEqual([before, true, true]);
  });

  it('is kept as text where it is too large, and where the store takes nothing', async () => {
    const before = text();
    const large = editor((copy) => appendFileSync(copy, 'x'.repeat(MAX_DOCUMENT_BYTES)));
    await expect(edit(large)).rejects.toThrow('your text is kept in');
    temp.store.replace = async () => {
      throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
    };
    await expect(edit(editor((copy) => appendFileSync(copy, 'Two.\n')))).rejects.toThrow(
      /^ENOSPC: no space left on device; your text is kept in /,
    );
    expect([text(), ...isKept()]).toEqual([before, true, true]);
  });

  it('can be fixed where it cannot be read', async () => {
    const whole = text();
    writeFileSync(path(), whole.replace('name:', 'name: ['));
    await edit(editor((copy) => writeFileSync(copy, whole)));
    expect(text()).toBe(whole);
  });
});

describe('the editor of a person', () => {
  let machine: Machine;
  beforeEach(() => {
    machine = createMachine();
  });
  afterEach(() => machine.remove());

  it.each([
    ['VISUAL before EDITOR', { VISUAL: 'visual', EDITOR: 'other' }, 'visual'],
    ['EDITOR where VISUAL is empty', { VISUAL: '', EDITOR: 'other' }, 'other'],
    ['its arguments', { EDITOR: 'other --wait' }, 'other --wait'],
    ['a usual one', {}, 'nano'],
  ])('is named by %s', async (_, named, ran) => {
    const file = join(machine.folder, 'it’s a file.md');
    for (const name of ['visual', 'other', 'nano']) {
      const program = join(machine.folder, name);
      writeFileSync(
        program,
        `#!/bin/sh\nlast() { for last; do :; done; }; last "$@"\nprintf '%s' "${name}$([ $# -gt 1 ] && printf ' %s' "$1")" > "$last"\nexit 3\n`,
      );
      chmodSync(program, 0o755);
    }
    const env = { PATH: machine.folder, ...named };
    const open = await personsEditor({ env, cwd: machine.folder });
    expect(await open(file)).toBe(3);
    expect(readFileSync(file, 'utf8')).toBe(ran);
  });

  it('is asked for where there is none', async () => {
    await expect(personsEditor({ env: { PATH: machine.folder }, cwd: '/' })).rejects.toThrow('EDITOR=nano');
  });
});
