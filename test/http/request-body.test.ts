import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Row } from '../../src/http/row.ts';
import { ask, exchangeRaw, parseAnswers, requestText } from './raw-exchange.ts';
import { json, postRow, SERVER_KIND } from './served.ts';
import { hello, start } from './start.ts';

describe('request bodies', () => {
  const schema = z.object({ name: z.string().optional(), deep: z.object({ n: z.number() }).optional() });

  function echo(rest: Partial<Row> = {}): Row {
    return postRow('/echo', (request) => json(request.body), { body: schema, ...rest });
  }

  it('accepts JSON in one piece, in many pieces and chunked', async () => {
    const target = await start([echo()]);
    const body = '{"name":"ünï"}';
    const whole = await ask(target, 'POST', '/echo', { body });
    expect(Buffer.from(whole.body, 'latin1').toString()).toBe(body);
    const text = Buffer.from(requestText('POST', '/echo', {}, body));
    const pieces = [text.subarray(0, -9), text.subarray(-9, -8), text.subarray(-8)];
    const split = await exchangeRaw(target, pieces, (so_far) => parseAnswers(so_far).length === 1);
    expect(Buffer.from(parseAnswers(split.text)[0]!.body, 'latin1').toString()).toBe(body);
    const chunked =
      'POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
    const heard = await exchangeRaw(
      target,
      [chunked, '8\r\n{"name":\r\n', '4\r\n"x"}\r\n', '0\r\n\r\n'],
      (so_far) => parseAnswers(so_far).length === 1,
    );
    expect(parseAnswers(heard.text)[0]!.body).toBe('{"name":"x"}');
  });

  it('reads no body as an empty object', async () => {
    const target = await start([echo()]);
    const text = 'POST /echo HTTP/1.1\r\nHost: localhost\r\n\r\n';
    const heard = await exchangeRaw(target, [text], (so_far) => parseAnswers(so_far).length === 1);
    expect(parseAnswers(heard.text)[0]).toMatchObject({ status: 200, body: '{}' });
  });

  it('distinguishes a body that is not JSON from one with a wrong shape', async () => {
    const target = await start([echo()]);
    for (const body of ['{"name":', 'name=x', ' ']) {
      const answer = await ask(target, 'POST', '/echo', { body });
      expect(answer.status, body).toBe(400);
      expect(JSON.parse(answer.body).error).toBe('invalid_json');
    }
    const answer = await ask(target, 'POST', '/echo', { body: '{"name":1,"deep":{"n":"x"}}' });
    expect(answer.status).toBe(400);
    const { error, issues, message } = JSON.parse(answer.body);
    expect(error).toBe('invalid_request');
    expect(issues.map((issue: { path: string }) => issue.path)).toEqual(['name', 'deep.n']);
    expect(message).toContain('name');
  });

  it('refuses bytes that are not UTF-8, and names their probable encoding', async () => {
    const target = await start([echo()]);
    const send = async (body: Uint8Array) => {
      const head = `POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
      const bytes = Buffer.concat([Buffer.from(head), body]);
      const heard = await exchangeRaw(target, [bytes], (so_far) => parseAnswers(so_far).length === 1);
      const answer = parseAnswers(heard.text)[0]!;
      return { status: answer.status, body: JSON.parse(answer.body) as { error: string; message: string } };
    };
    const text = '{"name":"x"}';
    const little = Buffer.from(`\ufeff${text}`, 'utf16le');
    for (const [bytes, says] of [
      [Buffer.from('{"name":"\xff"}', 'latin1'), 'not valid UTF-8'],
      [little, 'UTF-16'],
      [Buffer.from(little).swap16(), 'UTF-16'],
      [Buffer.from(text, 'utf16le'), 'not valid JSON'],
    ] as const) {
      const answer = await send(bytes);
      expect(answer, says).toMatchObject({ status: 400, body: { error: 'invalid_json' } });
      expect(answer.body.message).toContain(says);
    }
    expect((await send(Buffer.from(`\ufeff${text}`))).status).toBe(200);
  });

  it('refuses every charset but UTF-8, and accepts UTF-8 in every spelling', async () => {
    const target = await start([echo()]);
    const type = async (parameters: string) => {
      const headers = { 'Content-Type': `application/json${parameters}` };
      return ask(target, 'POST', '/echo', { body: '{}', headers });
    };
    for (const charset of ['utf-16', 'UTF-16LE', 'iso-8859-1', '"utf-16"', '', 'utf-8; charset=utf-16']) {
      const answer = await type(`; charset=${charset}`);
      expect(answer.status, charset).toBe(415);
      expect(JSON.parse(answer.body)).toMatchObject({
        error: 'unsupported_media_type',
        message: expect.stringContaining('encode the body in UTF-8'),
      });
    }
    for (const parameters of ['', '; charset=utf-8', ';CHARSET="UTF-8"', '; charset=utf8', '; version=1'])
      expect((await type(parameters)).status, parameters).toBe(200);
  });

  it('refuses a compressed body before the handler runs', async () => {
    let ran = 0;
    const handler = () => {
      ran += 1;
      return json({});
    };
    const target = await start([
      postRow('/json', handler, { body: schema }),
      postRow('/bytes', handler, { body: 'bytes' }),
    ]);
    for (const path of ['/json', '/bytes']) {
      const send = (coding: string) =>
        ask(target, 'POST', path, { body: '{}', headers: { 'Content-Encoding': coding } });
      for (const coding of ['gzip', 'br', 'identity, gzip', 'x']) {
        const answer = await send(coding);
        expect(answer.status, coding).toBe(415);
        expect(JSON.parse(answer.body)).toMatchObject({
          error: 'unsupported_media_type',
          message: expect.stringContaining('Content-Encoding'),
        });
      }
      expect((await send('Identity')).status).toBe(200);
    }
    expect(ran).toBe(2);
  });

  it('answers 400 to a body nested deeper than the stack allows', async () => {
    const target = await start([
      postRow('/deep', (request) => json(request.body), { body: z.json(), body_limit: 4_000_000 }),
    ]);
    const answer = await ask(target, 'POST', '/deep', { body: '['.repeat(200_000) + ']'.repeat(200_000) });
    expect(answer.status).toBe(400);
  });

  it('refuses every media type but JSON before the handler runs', async () => {
    let ran = 0;
    const target = await start([
      postRow('/write', () => {
        ran += 1;
        return json({});
      }),
    ]);
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/jsonx',
      'multipart/form-data',
    ]) {
      for (const body of ['{}', '']) {
        const answer = await ask(target, 'POST', '/write', { body, headers: { 'Content-Type': type } });
        expect(answer.status, `${type} ${body}`).toBe(415);
        expect(JSON.parse(answer.body).error).toBe('unsupported_media_type');
      }
    }
    const bare = 'POST /write HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}';
    const heard = await exchangeRaw(target, [bare], (so_far) => parseAnswers(so_far).length === 1);
    expect(parseAnswers(heard.text)[0]!.status).toBe(415);
    expect(ran).toBe(0);
    const typed = await ask(target, 'POST', '/write', {
      body: '{}',
      headers: { 'Content-Type': 'Application/JSON; charset=utf-8' },
    });
    expect(typed.status).toBe(200);
  });

  it('answers 413 to a body announced too large, and in the middle of one that grows too large', async () => {
    let ran = 0;
    const target = await start([
      postRow(
        '/write',
        () => {
          ran += 1;
          return json({});
        },
        { body_limit: 10_000 },
      ),
    ]);
    const announced = requestText('POST', '/write', {}, 'x'.repeat(3_000_000));
    const early = await exchangeRaw(target, [announced]);
    expect(early.text.startsWith('HTTP/1.1 413 ')).toBe(true);
    expect(early.text).toContain('body_too_large');
    const head =
      'POST /write HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
    const chunk = `fa0\r\n${'x'.repeat(4_000)}\r\n`;
    const grown = await exchangeRaw(target, [head, chunk, chunk, chunk]);
    expect(grown).toMatchObject({ closed: true });
    expect(grown.text.startsWith('HTTP/1.1 413 ')).toBe(true);
    expect(grown.text.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    expect(ran).toBe(0);
  });

  it('runs nothing for an incomplete upload', async () => {
    let ran = 0;
    const target = await start([
      hello,
      postRow('/write', () => {
        ran += 1;
        return json({});
      }),
    ]);
    const socket = connect(target.port, '127.0.0.1');
    await new Promise<void>((resolve) => {
      socket.write(requestText('POST', '/write', { 'Content-Length': '50' }, '{"half":'), () => resolve());
    });
    await ask(target, 'GET', '/hello');
    socket.destroy();
    expect((await ask(target, 'GET', '/hello')).status).toBe(200);
    expect(ran).toBe(0);
  });

  it('gives back the memory of one whose chunks are malformed, and answers it once', async () => {
    const answered: number[] = [];
    const target = await start(
      [
        postRow('/bytes', (request) => json((request.body as Uint8Array).length), {
          body: 'bytes',
          body_limit: 100_000,
        }),
      ],
      // A fifth of it is for bodies of this length: there is room for two.
      { limits: { body_bytes: 1_000_000 }, observe: ({ status }) => answered.push(status) },
    );
    const head = 'POST /bytes HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n';
    const body = 'x'.repeat(90_000);
    for (let nth = 0; nth < 4; nth += 1) {
      const chunk = `${body.length.toString(16)}\r\n${body}`;
      const heard = await exchangeRaw(target, [`${head}${chunk}`, '\r\nZZZ\r\n', 'ZZZ\r\n']);
      expect(heard.closed).toBe(true);
      expect(heard.text).toMatch(/^(?:HTTP\/1\.1 400 |$)/);
      expect(heard.text.match(/HTTP\/1\.1 /g) ?? []).toHaveLength(heard.text === '' ? 0 : 1);
    }
    expect(await ask(target, 'POST', '/bytes', { body })).toMatchObject({ status: 200, body: '90000' });
    // The native server answers what it cannot parse itself.
    expect(answered).toEqual(SERVER_KIND === 'node' ? [400, 400, 400, 400, 200] : [200]);
  });
});
