import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nextStep, type Rule } from './script.ts';
import { type StubModel, startStubModel } from './stub-model.ts';

describe('the script of the stub model', () => {
  const rules: Rule[] = [
    { match: 'build', steps: [{ shell: 'make' }, { shell: 'make test' }, { text: 'built' }] },
    { match: /ship/, steps: [{ text: 'shipped' }] },
  ];
  const user = (text: string) => ({ from: 'user' as const, text });
  const tool = { from: 'tool' as const, text: 'rc 0' };

  it.each([
    { turns: [user('hello')], step: { text: 'ok' } },
    { turns: [user('build it')], step: { shell: 'make' } },
    { turns: [user('build it'), tool], step: { shell: 'make test' } },
    { turns: [user('build it'), tool, tool, user('(reminder)')], step: { text: 'built' } },
    { turns: [user('build it'), tool, tool, tool], step: { text: 'built' } },
    { turns: [user('build it'), tool, tool, user('now ship it')], step: { text: 'shipped' } },
    { turns: [user('ship it'), user('build it')], step: { shell: 'make' } },
  ])('answers $turns with $step', ({ turns, step }) => {
    expect(nextStep(rules, turns, true)).toEqual(step);
  });

  it('sends no command to a request that cannot run one', () => {
    expect(nextStep(rules, [user('build it')], false)).toEqual({ text: 'ok' });
  });

  it('permits a command to a program that asks for a verdict on it', () => {
    const asked = [user('build it'), user('Judge the last command; answer with <block> first.')];
    expect(nextStep(rules, asked, false)).toEqual({ text: '<block>no' });
  });
});

describe('the stub model', () => {
  let stub: StubModel;
  beforeEach(async () => {
    stub = await startStubModel([{ match: 'hello', steps: [{ text: 'hi there' }] }]);
  });
  afterEach(() => stub.stop());
  const post = (path: string, body: object) =>
    fetch(`${stub.url}${path}`, { method: 'POST', body: JSON.stringify({ model: 'm', ...body }) });

  it('speaks both wire formats, streamed, and records the requests', async () => {
    const messages = [{ role: 'user', content: 'hello' }];
    const input = [{ role: 'user', content: [{ type: 'input_text', text: 'hello' }] }];
    const waiting = stub.waitFor(({ path }) => path === '/v1/responses', 5_000);
    const streamed = await (await post('/v1/messages', { stream: true, messages })).text();
    expect(streamed).toMatch(/event: message_start[\s\S]*hi there[\s\S]*event: message_stop/);
    const responses = await (await post('/v1/responses', { stream: true, input })).text();
    expect(responses).toMatch(/response\.created[\s\S]*hi there[\s\S]*response\.completed/);
    expect((await waiting).turns).toEqual([{ from: 'user', text: 'hello' }]);
    expect(stub.requests.map(({ path, model }) => [path, model])).toEqual([
      ['/v1/messages', 'm'],
      ['/v1/responses', 'm'],
    ]);
  });

  it('answers in one piece if no stream is requested', async () => {
    const answer = await post('/v1/messages', { messages: [{ role: 'user', content: 'hello' }] });
    expect(await answer.json()).toMatchObject({ content: [{ type: 'text', text: 'hi there' }] });
  });

  it('refuses requests with the given error, until it answers again', async () => {
    stub.refuse({ status: 429, headers: { 'retry-after': '9' }, body: { error: 'limit' } });
    const refused = await post('/v1/messages', { messages: [] });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '9']);
    expect(await refused.json()).toEqual({ error: 'limit' });
    stub.refuse(null);
    expect((await post('/v1/messages', { messages: [] })).status).toBe(200);
  });

  it('answers HEAD, and 404 to unknown paths', async () => {
    expect((await fetch(stub.url, { method: 'HEAD' })).status).toBe(200);
    expect((await fetch(`${stub.url}/v1/other`)).status).toBe(404);
    await expect(stub.waitFor(() => true, 10)).rejects.toThrow('no such model request');
  });
});
