import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { isCoded } from '../../../../src/base/errors.ts';
import { parseHostFile } from '../../../../src/config/host-file.ts';
import { appendToList, removeKey, setKey } from '../../../../src/config/json-splice.ts';
import { parseOperatorText } from '../../../../src/config/operator-text.ts';
import { parsePathList } from '../../../../src/config/path-lists.ts';
import { parseRemotes } from '../../../../src/config/remotes.ts';
import { parseRegistry } from '../../../../src/harness/agents/registry.ts';
import type { Seeded } from '../../../faults/seeded.ts';
import { JSON_PUMPS, jsonObject, jsonText, jsonValue } from '../grammar/json.ts';
import { damaged, pick, pumped } from '../grammar/parts.ts';
import type { Generated, Target } from '../target.ts';

const FILE = '/c/file.json';

const READERS: Readonly<
  Record<string, { names: readonly string[]; list: string; read(text: string): unknown }>
> = {
  stores: {
    names: ['version', 'stores'],
    list: 'stores',
    read: (text) => parsePathList('stores', FILE, text),
  },
  projects: {
    names: ['version', 'projects'],
    list: 'projects',
    read: (text) => parsePathList('projects', FILE, text),
  },
  remotes: {
    names: ['version', 'remotes', 'defaults', 'name', 'url', 'ssh', 'port', 'tunnel', 'poll_interval_ms'],
    list: 'remotes',
    read: (text) => parseRemotes(FILE, text),
  },
  host: {
    names: ['version', 'host', 'host_class', 'max_concurrent'],
    list: 'x',
    read: (text) => parseHostFile(FILE, text),
  },
  agents: {
    names: [
      'version',
      'agents',
      'builtins',
      'aliases',
      'id',
      'harness',
      'cli',
      'args',
      'effort_levels',
      'default',
      'env',
    ],
    list: 'agents',
    read: (text) => parseRegistry(FILE, text),
  },
};

/** The readers of the operator files; each refuses with `invalid_config` what it cannot use. */
export const operatorFiles: readonly Target[] = Object.entries(READERS).map(
  ([id, { names, list, read }]) => ({
    name: `operator-${id}`,
    generate: (random, turn) => file(random, turn, names, list),
    run(input) {
      try {
        return read(input.toString('utf8'));
      } catch (error) {
        if (isCoded(error, 'invalid_config')) return error.message;
        throw error;
      }
    },
    judge: (_input, answer) =>
      typeof answer === 'string' && answer.length > 2_000
        ? [`the refusal has ${answer.length} characters`]
        : [],
  }),
);

/** Changes of one value in the text of an operator file: it says what is meant, and all else keeps its bytes. */
export const operatorSplice: Target = {
  name: 'operator-splice',
  generate: (random, turn) => {
    const made = file(random, turn, READERS.agents!.names, 'list');
    return isJson(made.input) ? made : { ...made, input: Buffer.from('{"list":[]}') };
  },
  run(input) {
    const text = input.toString('utf8');
    const value = readOrNull(text);
    if (value === null) return null;
    return {
      value,
      set: setKey(text, ['added'], { a: 1 }),
      removed: removeKey(text, ['list']),
      appended: Array.isArray(value.list) ? appendToList(text, ['list'], 'last') : null,
    };
  },
  judge(_input, answer) {
    const made = answer as {
      value: Record<string, unknown>;
      set: string;
      removed: string;
      appended: string | null;
    } | null;
    if (made === null) return [];
    const { list, ...rest } = made.value;
    const problems: string[] = [];
    const expect = (what: string, text: string, meant: unknown) => {
      if (!isJson(Buffer.from(text)) || !isDeepStrictEqual(JSON.parse(text), meant))
        problems.push(`${what} gives ${text.slice(0, 200)}`);
    };
    expect('setKey', made.set, { ...made.value, added: { a: 1 } });
    expect('removeKey', made.removed, Object.hasOwn(made.value, 'list') ? rest : made.value);
    if (made.appended !== null)
      expect('appendToList', made.appended, { ...made.value, list: [...(list as []), 'last'] });
    return problems;
  },
};

function file(random: Seeded, turn: number | null, names: readonly string[], list: string): Generated {
  const entry = () => (random.chance(0.6) ? jsonObject(random, names) : jsonValue(random, names));
  const value: Record<string, unknown> = {
    ...(random.chance(0.6) ? { version: pick(random, [1, 1, 2, '1']) } : {}),
    [list]: pick<() => unknown>(random, [
      () => Array.from({ length: random.whole(0, 5) }, entry),
      () => ['/a', '~/b', 'relative', '', '/a'],
      entry,
    ])(),
    ...(random.chance(0.5) ? jsonObject(random, names) : {}),
  };
  const text = jsonText(random, random.chance(0.1) ? jsonValue(random, names) : value);
  if (turn === null) return { input: damaged(random, text), pump: null };
  const { name, text: many } = pumped(turn, JSON_PUMPS);
  return { input: Buffer.from(`{${JSON.stringify(list)}:${many},"x":1}`), pump: name };
}

function isJson(bytes: Buffer): boolean {
  try {
    JSON.parse(bytes.toString('utf8'));
    return true;
  } catch {
    return false;
  }
}

/** As every writer reads the file before it changes it; null where that refuses. */
function readOrNull(text: string): Record<string, unknown> | null {
  try {
    return parseOperatorText(FILE, text, z.looseObject({}));
  } catch (error) {
    if (isCoded(error, 'invalid_config')) return null;
    throw error;
  }
}
