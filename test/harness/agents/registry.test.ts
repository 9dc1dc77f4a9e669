import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readSettings } from '../../../src/config/settings.ts';
import { agentsReplySchema } from '../../../src/contract/agent.ts';
import {
  agentsReply,
  loadRegistry,
  parseRegistry,
  resolveAgent,
  resolveEffort,
} from '../../../src/harness/agents/registry.ts';
import { type ScratchFolder, scratchFolder } from '../../kit/scratch-folder.ts';

const FILE = '/etc/svc/agents.json';
const parse = (agents: object[], more: object = {}) =>
  parseRegistry(FILE, JSON.stringify({ version: 1, agents, ...more }));
const own = (id: string, more: object = {}) => ({ id, harness: 'codex', ...more });

describe('the built-in agents', () => {
  it('cover the three harnesses, with one default and unattended arguments', () => {
    const registry = parse([]);
    expect(new Set(registry.agents.map((agent) => agent.harness))).toEqual(
      new Set(['claude', 'codex', 'pi']),
    );
    expect(registry.agents.filter((agent) => agent.default).map((agent) => agent.id)).toEqual([
      'claude-sonnet',
    ]);
    expect(resolveAgent(registry, null).id).toBe('claude-sonnet');
    expect(resolveAgent(registry, 'claude-opus').args).toEqual(['--permission-mode', 'auto']);
    expect(resolveAgent(registry, 'codex').args).toEqual(['-a', 'never', '-s', 'danger-full-access']);
  });
});

describe('agents.json', () => {
  it('adds an agent with the defaults of its harness', () => {
    const agent = resolveAgent(parse([own('mine', { model: 'm', env: { A: '1' } })]), 'mine');
    expect(agent).toMatchObject({
      cli: 'codex',
      model: 'm',
      args: ['-a', 'never', '-s', 'danger-full-access'],
      env: { A: '1' },
      source: 'file',
      default: false,
    });
  });

  it('overrides the given fields of a built-in agent, and keeps the rest', () => {
    const registry = parse([{ id: 'claude-opus', harness: 'claude-code', default_effort: 'high' }]);
    expect(resolveAgent(registry, 'claude-opus')).toMatchObject({ model: 'opus', default_effort: 'high' });
    expect(registry.default_id).toBe('claude-sonnet');
  });

  it('replaces a built-in agent if its id names another harness', () => {
    expect(resolveAgent(parse([own('claude-opus')]), 'claude-opus')).toMatchObject({
      cli: 'codex',
      model: null,
    });
  });

  it('keeps only its own agents with "restrict", the first of them as the default', () => {
    const registry = parse([own('a'), own('b')], { builtins: 'restrict' });
    expect(registry.agents.map((agent) => agent.id)).toEqual(['a', 'b']);
    expect(registry.default_id).toBe('a');
    expect(resolveAgent(registry, null).default).toBe(true);
    expect(() => resolveAgent(parse([], { builtins: 'restrict' }), null)).toThrow(
      expect.objectContaining({ code: 'agent_unknown', message: expect.stringContaining(FILE) }),
    );
  });

  it('sets another default, which is then the only one', () => {
    const registry = parse([own('mine', { default: true })]);
    expect(registry.default_id).toBe('mine');
    expect(registry.agents.filter((agent) => agent.default)).toHaveLength(1);
  });

  it('gives agents aliases, also through other aliases', () => {
    const registry = parse([
      own('mine', { aliases: ['m'] }),
      { id: 'fast', alias_of: 'quick' },
      { id: 'quick', alias_of: 'm' },
    ]);
    for (const name of ['m', 'fast', 'quick']) expect(resolveAgent(registry, name).id).toBe('mine');
    expect(resolveAgent(registry, 'mine').aliases.sort()).toEqual(['fast', 'm', 'quick']);
  });

  it('lets an alias take the name of a built-in agent, default included', () => {
    const registry = parse([own('mine'), { id: 'claude-sonnet', alias_of: 'mine' }]);
    expect(resolveAgent(registry, 'claude-sonnet').id).toBe('mine');
    expect(registry.default_id).toBe('mine');
    expect(registry.agents.map((agent) => agent.id)).not.toContain('claude-sonnet');
  });

  it.each([
    { agents: [own('a'), own('a')], says: /"a" is listed twice/ },
    {
      agents: [own('a', { default: true }), own('b', { default: true })],
      says: /"a" and "b" are both the default/,
    },
    {
      agents: [{ id: 'x', alias_of: 'nobody' }],
      says: /"x" refers to the agent "nobody", which does not exist/,
    },
    {
      agents: [
        { id: 'x', alias_of: 'y' },
        { id: 'y', alias_of: 'x' },
      ],
      says: /"x" → "y" → "x" form a cycle/,
    },
    { agents: [{ id: 'x', alias_of: 'x' }], says: /"x" → "x" form a cycle/ },
    { agents: [own('a'), { id: 'a', alias_of: 'codex' }], says: /both an agent and an alias/ },
    {
      agents: [own('a', { aliases: ['z'] }), own('b', { aliases: ['z'] })],
      says: /"z" means both "a" and "b"/,
    },
    { agents: [own('a', { default_effort: 'huge' })], says: /default_effort "huge" of "a"/ },
    { agents: [{ id: 'a', harness: 'emacs' }], says: /agents\.0\.harness: unknown harness "emacs"/ },
    { agents: [{ id: 'a' }], says: /agents\.0\.harness/ },
    { agents: [own('a', { args: 'one string' })], says: /agents\.0\.args/ },
  ])('is refused with $agents', ({ agents, says }) => {
    expect(() => parse(agents)).toThrow(
      expect.objectContaining({ code: 'invalid_config', message: expect.stringMatching(says) }),
    );
    expect(() => parse(agents)).toThrow(FILE);
  });

  it('never resolves a name in a cycle, whatever the aliases are', () => {
    const id = fc.constantFrom('a', 'b', 'c', 'd', 'codex', 'nobody');
    const alias = fc.record({ id, alias_of: id });
    fc.assert(
      fc.property(fc.uniqueArray(alias, { selector: (entry) => entry.id, maxLength: 6 }), (aliases) => {
        let registry: ReturnType<typeof parse>;
        try {
          registry = parse(aliases);
        } catch (error) {
          expect(error).toMatchObject({ code: 'invalid_config' });
          return;
        }
        for (const { id: name } of aliases) expect(resolveAgent(registry, name).id).not.toBe(name);
      }),
    );
  });
});

describe('the registry of a host', () => {
  let scratch: ScratchFolder;
  beforeEach(() => {
    scratch = scratchFolder();
  });
  afterEach(() => scratch.remove());
  const load = () => loadRegistry(readSettings({ SVC_CONFIG_DIR: scratch.path }));

  it('is the built-in one if there is no file', () => {
    expect(load()).toMatchObject({ problem: null, default_id: 'claude-sonnet' });
  });

  it('falls back to the built-in agents if the file is invalid, and reports it', () => {
    scratch.write('agents.json', '{"agents": [{"id": "a"}]}');
    const { problem, ...registry } = load();
    const path = join(scratch.path, 'agents.json');
    expect(problem).toMatchObject({ code: 'invalid_config', message: expect.stringContaining(path) });
    expect({ ...registry, problem: null }).toEqual(parseRegistry(path, '{"agents": []}'));
  });

  it('names the fault of its file to whoever asks for an agent that it cannot have', () => {
    scratch.write('agents.json', '{"agents": [{"id": "mine"}]}');
    expect(() => resolveAgent(load(), 'mine')).toThrow(
      expect.objectContaining({
        code: 'agent_unknown',
        message: expect.stringContaining(
          `${join(scratch.path, 'agents.json')} is not valid at agents.0.harness`,
        ),
      }),
    );
  });
});

describe('choosing', () => {
  it('an unknown agent is refused with a list of the known ones', () => {
    for (const name of ['nobody', 'constructor', '']) {
      expect(() => resolveAgent(parse([]), name)).toThrow(
        expect.objectContaining({ code: 'agent_unknown', message: expect.stringContaining('claude-opus') }),
      );
    }
  });

  it('an effort is the requested one, else the agent’s default, else the program’s own', () => {
    const agent = resolveAgent(
      parse([own('a', { effort_levels: ['low', 'high'], default_effort: 'low' })]),
      'a',
    );
    expect(resolveEffort(agent, 'high')).toBe('high');
    expect(resolveEffort(agent, null)).toBe('low');
    expect(resolveEffort({ ...agent, default_effort: null }, null)).toBeNull();
    expect(() => resolveEffort(agent, 'max')).toThrow(
      expect.objectContaining({ code: 'effort_unknown', message: expect.stringContaining('low, high') }),
    );
  });
});

it('[OPF-3] accepts as a file what it prints, and refuses only hidden values of env', () => {
  const text = (registry: ReturnType<typeof parse>) => JSON.stringify(agentsReply(registry));
  const registry = parse([own('a', { model: null, default_effort: null, aliases: ['b'] })]);
  const again = parseRegistry(registry.file, text(registry));
  expect({ ...again, agents: again.agents.map((agent) => ({ ...agent, source: '' })) }).toEqual({
    ...registry,
    agents: registry.agents.map((agent) => ({ ...agent, source: '' })),
  });
  expect(() => parseRegistry('a.json', text(parse([own('a', { env: { TOKEN: 'secret' } })])))).toThrow(
    /env\.TOKEN: "\(hidden\)" is what svc agents shows/,
  );
});

it('an entry without a model of its own removes that of the built-in agent', () => {
  const model = (entry: object) =>
    parse([{ id: 'claude-opus', harness: 'claude', ...entry }]).agents.find(({ id }) => id === 'claude-opus')
      ?.model;
  expect(model({})).not.toBeNull();
  expect(model({ model: null })).toBeNull();
});

it('[RPL-5] the registry that is served hides the values of every env', () => {
  const reply = agentsReply(parse([own('a', { env: { TOKEN: 'secret' } })]));
  expect(agentsReplySchema.parse(reply)).toEqual(reply);
  expect(JSON.stringify(reply)).not.toContain('secret');
  expect(reply.agents.find((agent) => agent.id === 'a')?.env).toEqual({ TOKEN: '(hidden)' });
});
