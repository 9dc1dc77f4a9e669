import type { ServerKind } from '../../../src/http/transport.ts';

/** Statuses of all answers over one connection, in order; none: it is closed in silence. */
type Answers = readonly number[];

/** What is sent, and what becomes of it. */
type Scene = {
  name: string;
  /** Written one after another, each in its own segment; a number waits so many milliseconds. */
  parts: (string | Uint8Array | number)[];
  /** Methods of the requests that a reader could see in it, for reading the answers. */
  methods?: string[];
  /** Sent where no request is handled that could hide how long this one is waited for. */
  quiet?: boolean;
  /** True where the connection may be reset before every answer has been read. */
  torn?: boolean;
  /** Ends its own half, or resets, after the last part. */
  after?: 'end' | 'reset';
  /** Runs a handler with an effect so many times at most; 0 unless given. */
  effects?: number;
};

/** A scene on one transport. `answers`: each course that is right; where segments are cut decides between them. */
export type Case = Scene & { answers: readonly Answers[] };

type SceneOnBoth = Scene & {
  answers: Record<ServerKind, readonly Answers[]>;
  on?: Partial<Record<ServerKind, Partial<Scene>>>;
};

/** One answer on each transport; null is silence. */
const apart = (uws: number | null, node: number | null): SceneOnBoth['answers'] => ({
  uws: [uws === null ? [] : [uws]],
  node: [node === null ? [] : [node]],
});
const both = (...answers: number[]): SceneOnBoth['answers'] => ({ uws: [answers], node: [answers] });

const OK = 'GET /ok HTTP/1.1\r\nHost: localhost\r\n\r\n';
const get = (path: string, lines = ''): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${lines}\r\n`;
const act = (lines: string, body = ''): string =>
  `POST /act HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${lines}\r\n${body}`;

const many = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

function requestLines(): SceneOnBoth[] {
  const lines: [string, string, number, number][] = [
    ['nothing but a word', 'hello\r\n\r\n', 408, 400],
    ['no version', 'GET /ok\r\n\r\n', 408, 505],
    ['HTTP/0.9', 'GET /ok\r\nHost: localhost\r\n\r\n', 408, 505],
    ['HTTP/1.0', 'GET /ok HTTP/1.0\r\nHost: localhost\r\n\r\n', 505, 505],
    ['HTTP/1.2', 'GET /ok HTTP/1.2\r\nHost: localhost\r\n\r\n', 505, 505],
    ['HTTP/2.0', 'GET /ok HTTP/2.0\r\nHost: localhost\r\n\r\n', 505, 505],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 505, 400],
    ['HTTP/11', 'GET /ok HTTP/11\r\nHost: localhost\r\n\r\n', 505, 505],
    ['HTTP/1.', 'GET /ok HTTP/1.\r\nHost: localhost\r\n\r\n', 505, 505],
    ['HTTP/1.1x', 'GET /ok HTTP/1.1x\r\nHost: localhost\r\n\r\n', 505, 505],
    ['http/1.1 in small letters', 'GET /ok http/1.1\r\nHost: localhost\r\n\r\n', 505, 400],
    ['HTTPS/1.1', 'GET /ok HTTPS/1.1\r\nHost: localhost\r\n\r\n', 505, 400],
    ['a space after the version', 'GET /ok HTTP/1.1 \r\nHost: localhost\r\n\r\n', 505, 505],
    ['one more space before the version', 'GET /ok  HTTP/1.1\r\nHost: localhost\r\n\r\n', 505, 200],
    ['two spaces before the path', 'GET  /ok HTTP/1.1\r\nHost: localhost\r\n\r\n', 505, 200],
    ['a space in the path', 'GET /o k HTTP/1.1\r\nHost: localhost\r\n\r\n', 505, 400],
    ['a tab for a space', 'GET\t/ok\tHTTP/1.1\r\nHost: localhost\r\n\r\n', 505, 400],
    ['a leading space', ' GET /ok HTTP/1.1\r\nHost: localhost\r\n\r\n', 505, 400],
    ['no path', 'GET HTTP/1.1\r\nHost: localhost\r\n\r\n', 505, 400],
    ['no method', '/ok HTTP/1.1\r\nHost: localhost\r\n\r\n', 505, 400],
    ['a bare line feed after the line', 'GET /ok HTTP/1.1\nHost: localhost\r\n\r\n', 505, 505],
    ['a bare carriage return after the line', 'GET /ok HTTP/1.1\rHost: localhost\r\n\r\n', 505, 400],
    ['a colon in the method', 'GE:T /ok HTTP/1.1\r\nHost: localhost\r\n\r\n', 405, 400],
    ['a quote in the method', 'G"ET /ok HTTP/1.1\r\nHost: localhost\r\n\r\n', 405, 400],
    ['a NUL in the method', 'G\0ET /ok HTTP/1.1\r\nHost: localhost\r\n\r\n', 505, 400],
    ['a NUL in the path', 'GET /o\0k HTTP/1.1\r\nHost: localhost\r\n\r\n', 505, 400],
    ['a byte of control in the path', 'GET /o\x01k HTTP/1.1\r\nHost: localhost\r\n\r\n', 505, 400],
    ['a method of 5,000 letters', `${'A'.repeat(5_000)} /ok HTTP/1.1\r\nHost: localhost\r\n\r\n`, 431, 400],
    ['a path of 8 kB', get(`/${'a'.repeat(8_000)}`), 431, 404],
    ['a path of 100 kB', get(`/${'a'.repeat(100_000)}`), 431, 431],
    ['a query of 100 kB', get(`/ok?${'a'.repeat(100_000)}`), 431, 431],
    ['100 kB without a line end', 'A'.repeat(100_000), 431, 400],
    [
      'a TLS hello',
      Buffer.from('16030100a5010000a10303', 'hex').toString('latin1') + '\0'.repeat(160),
      505,
      400,
    ],
    ['an SSH greeting', 'SSH-2.0-OpenSSH_9.2\r\n', 408, 400],
    ['an absolute form', 'GET http://localhost/ok HTTP/1.1\r\nHost: localhost\r\n\r\n', 505, 400],
    [
      'an absolute form of elsewhere',
      'GET http://evil.example/ok HTTP/1.1\r\nHost: localhost\r\n\r\n',
      505,
      400,
    ],
    ['an authority form', 'CONNECT localhost:22 HTTP/1.1\r\nHost: localhost:22\r\n\r\n', 505, 400],
    ['CONNECT with a path', 'CONNECT /ok HTTP/1.1\r\nHost: localhost\r\n\r\n', 405, 400],
    ['an asterisk', 'OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n', 505, 400],
    ['a path without a slash', 'GET ok HTTP/1.1\r\nHost: localhost\r\n\r\n', 505, 400],
  ];
  return lines.map(([name, text, uws, node]) => ({
    name: `request line: ${name}`,
    parts: [Buffer.from(text, 'latin1')],
    answers: apart(uws, node),
    quiet: uws === 408,
  }));
}

function headerCases(): SceneOnBoth[] {
  const cases: [string, string, number, number][] = [
    ['no Host', 'GET /ok HTTP/1.1\r\n\r\n', 408, 400],
    ['no Host but others', 'GET /ok HTTP/1.1\r\nAccept: */*\r\n\r\n', 400, 400],
    ['two Hosts', 'GET /ok HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n', 400, 400],
    ['two Hosts that differ', 'GET /ok HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n', 400, 400],
    ['an empty Host', 'GET /ok HTTP/1.1\r\nHost:\r\n\r\n', 403, 403],
    ['a Host of elsewhere', 'GET /ok HTTP/1.1\r\nHost: evil.example\r\n\r\n', 403, 403],
    ['a Host with a user', 'GET /ok HTTP/1.1\r\nHost: localhost@evil.example\r\n\r\n', 403, 403],
    ['a Host with a path', 'GET /ok HTTP/1.1\r\nHost: localhost/evil\r\n\r\n', 403, 403],
    ['a Host with an odd port', 'GET /ok HTTP/1.1\r\nHost: localhost:99999\r\n\r\n', 403, 403],
    ['a Host that is a number', 'GET /ok HTTP/1.1\r\nHost: 2130706433\r\n\r\n', 403, 403],
    ['a folded header', get('/ok', 'X-A: b\r\n c\r\n'), 408, 400],
    ['a header that begins with a space', get('/ok', ' X-A: b\r\n'), 408, 400],
    ['a space before the colon', get('/ok', 'X-A : b\r\n'), 408, 400],
    ['no colon', get('/ok', 'X-A\r\n'), 408, 400],
    ['no name', get('/ok', ': b\r\n'), 200, 400],
    ['a NUL in a name', get('/ok', 'X-\0A: b\r\n'), 408, 400],
    ['a NUL in a value', get('/ok', 'X-A: \0b\r\n'), 408, 400],
    ['a byte of control in a value', get('/ok', 'X-A: \x01b\r\n'), 408, 400],
    ['a bare line feed', get('/ok', 'X-A: b\nX-B: c\r\n'), 408, 400],
    ['a bare carriage return', get('/ok', 'X-A: b\rX-B: c\r\n'), 408, 400],
    ['Latin-1 in a value', get('/ok', 'X-A: caf\xe9\r\n'), 200, 200],
    ['invalid UTF-8 in a value', get('/ok', 'X-A: \xff\xfe\r\n'), 200, 200],
    ['invalid UTF-8 in a name', get('/ok', 'X-\xff: b\r\n'), 408, 400],
    ['a parenthesis in a name', get('/ok', 'X-(A): b\r\n'), 408, 400],
    ['a name of 10 kB', get('/ok', `${'a'.repeat(10_000)}: b\r\n`), 431, 200],
    ['a value of 200 kB', get('/ok', `X-A: ${'a'.repeat(200_000)}\r\n`), 431, 431],
    ['500 headers', get('/ok', 'X-A: b\r\n'.repeat(500)), 431, 200],
    ['20,000 headers', get('/ok', 'X-A: b\r\n'.repeat(20_000)), 431, 431],
    [
      '20,000 different headers',
      get('/ok', Array.from({ length: 20_000 }, (_, n) => `X-${n}: b\r\n`).join('')),
      431,
      431,
    ],
    ['a header named __proto__', get('/ok', '__proto__: b\r\n'), 200, 200],
    ['a header named constructor', get('/ok', 'constructor: b\r\n'), 200, 200],
    ['an expectation of something else', get('/ok', 'Expect: something\r\n'), 417, 417],
    ['a range of nothing known', get('/ok', 'Range: bytes=zz\r\n'), 200, 200],
    ['a range of a huge number', get('/ok', `Range: bytes=${'9'.repeat(400)}-\r\n`), 200, 200],
    ['an If-None-Match that never closes its quote', get('/ok', 'If-None-Match: "abc\r\n'), 200, 200],
    ['an If-None-Match of 30 kB', get('/ok', `If-None-Match: ${'"a", '.repeat(6_000)}\r\n`), 431, 200],
    ['an Accept-Encoding of nonsense', get('/ok', 'Accept-Encoding: ;;;q=,br;q=9\r\n'), 200, 200],
    ['a leading empty line', `\r\n${OK}`, 408, 200],
    ['three leading empty lines', `\r\n\r\n\r\n${OK}`, 408, 200],
    ['a leading line feed', `\n${OK}`, 505, 200],
  ];
  return cases.map(([name, text, uws, node]) => ({
    name: `headers: ${name}`,
    parts: [Buffer.from(text, 'latin1')],
    answers: apart(uws, node),
    quiet: uws === 408,
  }));
}

function smuggling(): SceneOnBoth[] {
  const hidden = 'POST /act HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n';
  // In silence: the native server closes a connection with another request behind one that is being refused.
  const cases: [string, string, number | null, number][] = [
    [
      'a length and a coding',
      act(`Content-Length: ${hidden.length + 5}\r\nTransfer-Encoding: chunked\r\n`, `0\r\n\r\n${hidden}`),
      400,
      400,
    ],
    [
      'a coding and a length',
      act(`Transfer-Encoding: chunked\r\nContent-Length: 6\r\n`, `0\r\n\r\n${hidden}`),
      400,
      400,
    ],
    [
      'two lengths',
      act(`Content-Length: 2\r\nContent-Length: ${hidden.length + 2}\r\n`, `{}${hidden}`),
      null,
      400,
    ],
    ['two equal lengths', act('Content-Length: 2\r\nContent-Length: 2\r\n', `{}${hidden}`), null, 400],
    ['a list of lengths', act('Content-Length: 2, 2\r\n', `{}${hidden}`), 400, 400],
    ['a length with a plus', act('Content-Length: +2\r\n', `{}${hidden}`), 400, 400],
    ['a length with a minus', act('Content-Length: -2\r\n', `{}${hidden}`), 400, 400],
    ['a length in hex', act('Content-Length: 0x2\r\n', `{}${hidden}`), 400, 400],
    ['a length with letters', act('Content-Length: 2x\r\n', `{}${hidden}`), 400, 400],
    ['a length with a fraction', act('Content-Length: 2.0\r\n', `{}${hidden}`), 400, 400],
    ['a length of twenty digits', act('Content-Length: 18446744073709551618\r\n', `{}${hidden}`), 400, 400],
    ['a length of forty digits', act(`Content-Length: ${'9'.repeat(40)}\r\n`, `{}${hidden}`), 400, 400],
    ['an empty length', act('Content-Length:\r\n', `{}${hidden}`), null, 400],
    ['a length with a space inside', act('Content-Length: 2 2\r\n', `{}${hidden}`), 400, 400],
    ['a space before the colon of a length', act('Content-Length : 2\r\n', `{}${hidden}`), 408, 400],
    ['a coding named identity', act('Transfer-Encoding: identity\r\n', hidden), 400, 400],
    [
      'a coding named identity with a length',
      act('Transfer-Encoding: identity\r\nContent-Length: 2\r\n', `{}${hidden}`),
      400,
      400,
    ],
    ['a coding named gzip', act('Transfer-Encoding: gzip\r\n', `0\r\n\r\n${hidden}`), null, 400],
    ['gzip, chunked', act('Transfer-Encoding: gzip, chunked\r\n', `0\r\n\r\n${hidden}`), null, 400],
    ['chunked, gzip', act('Transfer-Encoding: chunked, gzip\r\n', `0\r\n\r\n${hidden}`), null, 400],
    ['chunked, chunked', act('Transfer-Encoding: chunked, chunked\r\n', `0\r\n\r\n${hidden}`), null, 400],
    ['chunked, identity', act('Transfer-Encoding: chunked, identity\r\n', `0\r\n\r\n${hidden}`), null, 400],
    [
      'two codings',
      act('Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n', `0\r\n\r\n${hidden}`),
      null,
      400,
    ],
    ['xchunked', act('Transfer-Encoding: xchunked\r\n', `0\r\n\r\n${hidden}`), null, 400],
    ['"chunked" in quotes', act('Transfer-Encoding: "chunked"\r\n', `0\r\n\r\n${hidden}`), null, 400],
    [
      'a space before the colon of a coding',
      act('Transfer-Encoding : chunked\r\n', `0\r\n\r\n${hidden}`),
      408,
      400,
    ],
    [
      'a vertical tab before a coding',
      act('Transfer-Encoding: \x0bchunked\r\n', `0\r\n\r\n${hidden}`),
      408,
      400,
    ],
    ['a folded coding', act('Transfer-Encoding:\r\n chunked\r\n', `0\r\n\r\n${hidden}`), 408, 400],
    [
      'a chunk size in a sign',
      act('Transfer-Encoding: chunked\r\n', `+2\r\n{}\r\n0\r\n\r\n${hidden}`),
      400,
      400,
    ],
    [
      'a chunk size in hex with 0x',
      act('Transfer-Encoding: chunked\r\n', `0x2\r\n{}\r\n0\r\n\r\n${hidden}`),
      400,
      400,
    ],
    [
      'a chunk size of letters',
      act('Transfer-Encoding: chunked\r\n', `zz\r\n{}\r\n0\r\n\r\n${hidden}`),
      400,
      400,
    ],
    [
      'a chunk size that overflows',
      act('Transfer-Encoding: chunked\r\n', `fffffffffffffffff\r\n{}\r\n0\r\n\r\n`),
      400,
      400,
    ],
    [
      'a chunk longer than its size',
      act('Transfer-Encoding: chunked\r\n', `1\r\n{}\r\n0\r\n\r\n${hidden}`),
      505,
      400,
    ],
    [
      'a chunk ended by bare line feeds',
      act('Transfer-Encoding: chunked\r\n', `2\n{}\n0\n\n${hidden}`),
      null,
      400,
    ],
    [
      'a negative chunk size',
      act('Transfer-Encoding: chunked\r\n', `-1\r\n{}\r\n0\r\n\r\n${hidden}`),
      400,
      400,
    ],
    ['an empty chunk size', act('Transfer-Encoding: chunked\r\n', `\r\n{}\r\n0\r\n\r\n${hidden}`), 200, 400],
  ];
  return cases.map(([name, text, uws, node]) => ({
    name: `smuggling: ${name}`,
    parts: [Buffer.from(text, 'latin1')],
    methods: ['POST', 'POST', 'POST'],
    answers: apart(uws, node),
    quiet: uws === 408,
    // The native server takes it for the end of a body without anything in it.
    on: name === 'an empty chunk size' ? { uws: { effects: 1 } } : {},
  }));
}

/** Messages that are right in spite of their looks: the body is framed without doubt. */
function framed(): SceneOnBoth[] {
  const chunked = (body: string): string => act('Transfer-Encoding: chunked\r\n', body);
  const cases: [string, (string | number)[], Partial<SceneOnBoth>?][] = [
    ['one chunk', [chunked('2\r\n{}\r\n0\r\n\r\n')]],
    ['two chunks', [chunked('1\r\n{\r\n1\r\n}\r\n0\r\n\r\n')]],
    ['a chunk size with zeros before it', [chunked('0002\r\n{}\r\n0\r\n\r\n')]],
    ['no body', [act('Content-Length: 0\r\n')]],
    ['a length with zeros before it', [act('Content-Length: 002\r\n', '{}')]],
    ['a body in two segments', [act('Content-Length: 2\r\n', '{'), '}']],
    ['a body a segment after its head', [act('Content-Length: 2\r\n'), '{}']],
    ['chunks in segments', [act('Transfer-Encoding: chunked\r\n'), '2\r', '\n{', '}\r\n0', '\r\n\r', '\n']],
    ['an expectation of 100-continue', [act('Content-Length: 2\r\nExpect: 100-continue\r\n'), '{}']],
    [
      'a head in many segments',
      ['POST /act HTTP/1.1\r\nHo', 50, 'st: local', 50, 'host\r\nContent-Length: 0\r', 50, '\n\r\n'],
    ],
    [
      'a head that is cut after its last line',
      ['POST /act HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n', 50, '\r\n'],
    ],
    [
      'a head that is cut in its last line end',
      ['POST /act HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r', 50, '\n'],
    ],
    [
      'a head with a length that is cut in its last line end',
      [
        'POST /act HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r',
        50,
        '\n{}',
      ],
    ],
  ];
  return cases.map(([name, parts, rest = {}]) => ({
    name: `bodies: ${name}`,
    parts,
    methods: ['POST'],
    answers: both(200),
    effects: 1,
    ...rest,
  }));
}

function brokenBodies(): SceneOnBoth[] {
  const big = 'x'.repeat(5_000);
  const post = (lines: string, body: string): Buffer => Buffer.from(act(lines, body), 'latin1');
  const sized = (body: string): Buffer => post(`Content-Length: ${body.length}\r\n`, body);
  const cases: [string, Scene['parts'], number[], Partial<SceneOnBoth>?][] = [
    ['a length above the limit', [post('Content-Length: 5000\r\n', '')], [413]],
    ['a length of a terabyte', [post('Content-Length: 1099511627776\r\n', '')], [413]],
    [
      'chunks above the limit',
      [post('Transfer-Encoding: chunked\r\n', `1388\r\n${big}\r\n0\r\n\r\n`)],
      [413],
    ],
    ['a body above the limit', [sized(big)], [413]],
    ['an expectation above the limit', [post('Content-Length: 5000\r\nExpect: 100-continue\r\n', '')], [413]],
    ['no JSON', [sized('{"a":')], [400]],
    ['a text', [sized('hello')], [400]],
    ['a NUL', [sized('\0')], [400]],
    ['invalid UTF-8', [sized('"\xff\xfe"')], [400]],
    ['an overlong slash', [sized('"\xc0\xaf"')], [400]],
    ['half a surrogate', [sized('"\xed\xa0\x80"')], [400]],
    ['a byte order mark alone', [sized('\xef\xbb\xbf')], [400]],
    ['900 brackets', [sized('['.repeat(900))], [400]],
    [
      'another type',
      [
        Buffer.from(
          'POST /act HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}',
        ),
      ],
      [415],
    ],
    [
      'a form',
      [
        Buffer.from(
          'POST /act HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 3\r\n\r\na=b',
        ),
      ],
      [415],
    ],
    ['no type', [Buffer.from('POST /act HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}')], [415]],
    ['a body that stops', [post('Content-Length: 100\r\n', '{}')], [408]],
    ['a chunk that stops', [post('Transfer-Encoding: chunked\r\n', '64\r\n{}')], [408]],
    [
      'a body that drips',
      [post('Content-Length: 100\r\n', ''), 300, '{', 300, '"', 300, 'a', 300, '"'],
      [408],
    ],
    ['a body whose client ends its half', [post('Content-Length: 100\r\n', '{}')], [], { after: 'end' }],
    ['a body whose client resets', [post('Content-Length: 100\r\n', '{}')], [], { after: 'reset' }],
    [
      'a head whose client ends its half',
      ['GET /ok HTTP/1.1\r\nHost: loc'],
      [],
      { after: 'end', answers: apart(null, 400) },
    ],
    ['a head whose client resets', ['GET /ok HTTP/1.1\r\nHost: loc'], [], { after: 'reset' }],
    ['nothing from a client that resets', [], [], { after: 'reset' }],
    ['nothing from a client that ends its half', [], [], { after: 'end' }],
    ['a request whose client resets at once', [get('/slow')], [], { after: 'reset' }],
    ['a body on GET', ['GET /ok HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}'], [200]],
    [
      'a body on HEAD',
      ['HEAD /ok HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}'],
      [200],
      { methods: ['HEAD'] },
    ],
  ];
  return cases.map(([name, parts, answers, rest = {}]) => ({
    name: `bodies: ${name}`,
    parts,
    methods: ['POST'],
    answers: both(...answers),
    ...rest,
  }));
}

function paths(): SceneOnBoth[] {
  const cases: [string, string, number?][] = [
    ['dot segments', '/../etc/passwd'],
    ['dot segments inside', '/files/../../etc/passwd'],
    ['encoded dots', '/files/%2e%2e/%2e%2e/etc/passwd'],
    ['half encoded dots', '/files/.%2e/etc/passwd'],
    ['encoded slashes and dots', '/files/..%2f..%2fetc%2fpasswd'],
    ['a single dot', '/files/./a'],
    ['an encoded single dot', '/files/%2e/a'],
    ['backslashes', '/files/..\\..\\etc\\passwd', 200],
    ['dots encoded twice', '/files/%252e%252e/a', 200],
    ['an encoded NUL', '/files/a%00b'],
    ['an encoded NUL at the end', '/files/a.md%00'],
    ['half an encoding', '/files/%'],
    ['an encoding of one digit', '/files/%2'],
    ['an encoding of letters', '/files/%zz'],
    ['invalid UTF-8, encoded', '/files/%ff'],
    ['an overlong slash, encoded', '/files/%c0%af'],
    ['half a surrogate, encoded', '/files/%ed%a0%80'],
    ['a raw byte above ASCII', '/files/\xff'],
    ['raw UTF-8', '/files/\xc3\xa9'],
    ['an empty segment', '/files//a', 404],
    ['a slash at the end', '/ok/', 404],
    ['two slashes at the start', '//ok', 404],
    ['other letters', '/OK', 404],
    ['a fragment', '/ok#x', 404],
    ['an encoded slash in an id', '/files/a%2Fb', 200],
    ['slashes in an id', '/files/a/b/c', 200],
    ['__proto__', '/files/__proto__', 200],
    ['a query with half an encoding', '/ok?a=%', 200],
    ['a query with a NUL', '/ok?a=%00', 200],
    ['a query twice the same', '/query?a=1&a=2'],
    ['a query named __proto__', '/query?__proto__=1', 200],
    ['two question marks', '/ok?a=1?b=2', 200],
    ['a carriage return in a query', '/ok?a=%0d%0aX-A:%20b', 200],
  ];
  return cases.map(([name, path, status = 400]) => ({
    name: `paths: ${name}`,
    parts: [Buffer.from(get(path), 'latin1')],
    answers: both(status),
  }));
}

function methods(): SceneOnBoth[] {
  const request = (method: string): string =>
    `${method} /act HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n`;
  const known = ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND', 'LINK'];
  const odd = ['BREW', 'post', 'Post', 'POSTPOST', '__PROTO__', 'P*ST'];
  return [
    ...known.map(
      (method): SceneOnBoth => ({
        name: `methods: ${method} where only POST is taken`,
        parts: [request(method)],
        methods: [method],
        answers: both(405),
      }),
    ),
    ...odd.map(
      (method): SceneOnBoth => ({
        name: `methods: ${method}`,
        parts: [request(method)],
        // The native server makes no difference between small letters and capitals.
        answers: apart(method.toUpperCase() === 'POST' ? 200 : 405, 400),
        on: method.toUpperCase() === 'POST' ? { uws: { effects: 1 } } : {},
      }),
    ),
    { name: 'methods: OPTIONS', parts: [request('OPTIONS')], methods: ['OPTIONS'], answers: both(204) },
  ];
}

function upgrades(): SceneOnBoth[] {
  const upgrade = (lines: string, path = '/ok'): string =>
    get(path, `Upgrade: websocket\r\nConnection: Upgrade\r\n${lines}`);
  const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
  const version = 'Sec-WebSocket-Version: 13\r\n';
  const whole = `${key}${version}`;
  const named = (host: string, lines: string): string =>
    upgrade(lines).replace('Host: localhost', `Host: ${host}`);
  const frames = Buffer.from([0x81, 0x85, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  const cases: [string, string, number?][] = [
    ['a whole handshake on a plain row', upgrade(whole)],
    ['a whole handshake nowhere', upgrade(whole, '/nowhere'), 404],
    ['a whole handshake where only POST is taken', upgrade(whole, '/act'), 405],
    [
      'a whole handshake by POST',
      act(`Upgrade: websocket\r\nConnection: Upgrade\r\nContent-Length: 2\r\n${whole}`, '{}'),
    ],
    ['a whole handshake without a Host', upgrade(whole).replace('Host: localhost\r\n', '')],
    ['no key', upgrade(version)],
    ['a short key', upgrade(`Sec-WebSocket-Key: abc\r\n${version}`)],
    ['a key that is no base64', upgrade(`Sec-WebSocket-Key: ${'!'.repeat(24)}\r\n${version}`)],
    ['an empty key', upgrade(`Sec-WebSocket-Key:\r\n${version}`)],
    ['two keys', upgrade(`${key}${whole}`)],
    ['no version', upgrade(key)],
    ['version 8', upgrade(`${key}Sec-WebSocket-Version: 8\r\n`)],
    ['version 9999999999', upgrade(`${key}Sec-WebSocket-Version: 9999999999\r\n`)],
    ['two versions', upgrade(`${whole}Sec-WebSocket-Version: 8\r\n`)],
    ['a hundred protocols', upgrade(`${whole}Sec-WebSocket-Protocol: ${'a,'.repeat(100)}\r\n`)],
    ['an extension of nonsense', upgrade(`${whole}Sec-WebSocket-Extensions: ;;=,"\r\n`)],
    ['no Connection header', get('/ok', `Upgrade: websocket\r\n${whole}`)],
    ['in other letters', get('/ok', `UPGRADE: WebSocket\r\nConnection: upgrade\r\n${whole}`)],
    ['among other protocols', get('/ok', `Upgrade: h2c, websocket\r\nConnection: Upgrade\r\n${whole}`)],
    // Another protocol may be passed over; such a client goes on in HTTP/1.1.
    [
      'to HTTP/2',
      get(
        '/ok',
        'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n',
      ),
      200,
    ],
    ['to nothing known', get('/ok', 'Connection: Upgrade\r\nUpgrade: xwebsocket\r\n'), 200],
    ['[P18] under a name of elsewhere', named('evil.example', whole), 403],
    [
      '[P18] under a name of elsewhere, nowhere',
      named('evil.example', whole).replace('/ok', '/nowhere'),
      403,
    ],
    ['[P18] by a page of elsewhere', upgrade(`${whole}Origin: http://evil.example\r\n`), 403],
    [
      '[P18] by a page of another port',
      named('localhost:4000', `${whole}Origin: http://localhost:5000\r\n`),
      403,
    ],
    ['[P18] by a page of no origin', upgrade(`${whole}Origin: null\r\n`), 403],
    [
      '[P18] by a browser for another site',
      upgrade(`${whole}Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: websocket\r\n`),
      403,
    ],
    ['by the own page', named('localhost:4000', `${whole}Origin: http://localhost:4000\r\n`)],
  ];
  return [
    ...cases.map(
      ([name, text, status = 400]): SceneOnBoth => ({
        name: `upgrades: ${name}`,
        parts: [text],
        methods: [text.slice(0, text.indexOf(' '))],
        answers: both(status),
      }),
    ),
    {
      name: 'upgrades: frames behind a handshake, in one segment',
      parts: [Buffer.concat([Buffer.from(upgrade(whole)), frames])],
      answers: apart(505, 400),
    },
    {
      name: 'upgrades: frames after a refused handshake',
      parts: [upgrade(whole), frames],
      answers: { uws: [[400], [505]], node: [[400]] },
    },
  ];
}

function slow(): SceneOnBoth[] {
  return [
    { name: 'slow: nothing at all', parts: [], answers: both(408), quiet: true },
    { name: 'slow: half a request line', parts: ['GET /o'], answers: both(408), quiet: true },
    {
      name: 'slow: half a head',
      parts: ['GET /ok HTTP/1.1\r\nHost: localhost\r\nX-A: b'],
      answers: both(408),
      quiet: true,
    },
    {
      name: 'slow: a header each second, without end',
      parts: [
        'GET /ok HTTP/1.1\r\nHost: localhost\r\n',
        ...Array.from({ length: 14 }, (_, n) => [1_000, `X-${n}: b\r\n`]).flat(),
      ],
      answers: both(408),
      quiet: true,
    },
    {
      name: 'slow: garbage after an answer',
      parts: [OK, 'garbage\r\n\r\n'],
      methods: ['GET', 'GET'],
      answers: { uws: [[200]], node: [[200], [200, 400]] },
    },
    {
      name: 'slow: half a head after an answer',
      parts: [OK, 'GET /ok HTT'],
      methods: ['GET', 'GET'],
      // Cut inside the version, it is refused at once there; in one segment with what came before, instead of it.
      answers: { uws: [[505], [200, 505]], node: [[200, 408]] },
    },
    {
      name: 'pipelining: three in one segment',
      parts: [OK.repeat(3)],
      methods: ['GET', 'GET', 'GET'],
      answers: both(200, 200, 200),
    },
    {
      name: 'pipelining: HEAD, GET, 404',
      parts: [`HEAD /ok HTTP/1.1\r\nHost: localhost\r\n\r\n${OK}${get('/nowhere')}`],
      methods: ['HEAD', 'GET', 'GET'],
      answers: both(200, 200, 404),
    },
    {
      name: 'pipelining: after Connection: close',
      parts: [get('/ok', 'Connection: close\r\n') + act('Content-Length: 2\r\n', '{}')],
      methods: ['GET', 'POST'],
      // What comes after the last request of a connection is never run; the native server answers neither then.
      answers: apart(null, 200),
    },
    {
      name: 'pipelining: 1,000 in one segment',
      parts: [OK.repeat(1_000)],
      methods: many(1_000, 'GET'),
      answers: both(...many(1_000, 200)),
    },
    {
      name: 'pipelining: 10,000 in many segments',
      parts: [OK.repeat(10_000)],
      methods: many(10_000, 'GET'),
      answers: both(...many(10_000, 200)),
      // Where a segment cuts a request line inside its version, the native server ends the connection.
      on: { uws: { torn: true } },
    },
    {
      name: 'pipelining: behind a request that waits for its answer',
      parts: [get('/soon') + OK],
      methods: ['GET', 'GET'],
      // The native server closes the connection, and the client sends both again.
      answers: { uws: [[]], node: [[200, 200]] },
    },
    {
      name: 'pipelining: a write behind a request that waits for its answer',
      parts: [get('/soon') + act('Content-Length: 2\r\n', '{}')],
      methods: ['GET', 'POST'],
      answers: { uws: [[]], node: [[200, 200]] },
      on: { node: { effects: 1 } },
    },
    {
      name: 'pipelining: behind a request that waits, from a client that ends its half',
      parts: [get('/soon') + OK],
      methods: ['GET', 'GET'],
      after: 'end',
      // Nobody is answered who can be taken to have gone.
      answers: both(),
    },
    {
      name: 'pipelining: behind a request that waits, from a client that resets',
      parts: [get('/slow') + act('Content-Length: 2\r\n', '{}')],
      after: 'reset',
      answers: both(),
      on: { node: { effects: 1 } },
    },
    {
      name: 'pipelining: after a refused length',
      parts: [act('Content-Length: 2x\r\n', '{}') + act('Content-Length: 2\r\n', '{}')],
      methods: ['POST', 'POST'],
      answers: both(400),
    },
    {
      name: 'pipelining: a write with Connection: close, and another behind it',
      parts: [act('Connection: close\r\nContent-Length: 2\r\n', '{}') + act('Content-Length: 2\r\n', '{}')],
      methods: ['POST', 'POST'],
      answers: apart(null, 200),
      on: { node: { effects: 1 } },
    },
    {
      name: 'pipelining: close among other options',
      parts: [get('/ok', 'Connection: TE, close\r\n') + act('Content-Length: 2\r\n', '{}')],
      methods: ['GET', 'POST'],
      answers: apart(null, 200),
    },
    {
      name: 'pipelining: a refused name with Connection: close, and a write behind it',
      parts: [
        'GET /ok HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n' +
          act('Content-Length: 2\r\n', '{}'),
      ],
      methods: ['GET', 'POST'],
      answers: apart(null, 403),
    },
    {
      name: 'pipelining: a later request without a Host',
      parts: [OK, 100, 'GET /ok HTTP/1.1\r\n\r\n'],
      methods: ['GET', 'GET'],
      // Over a connection that has been answered before, half a head cannot be told from none.
      answers: { uws: [[200]], node: [[200, 400]] },
    },
    {
      name: 'pipelining: a later request without a Host but with others',
      parts: [OK, 100, 'GET /ok HTTP/1.1\r\nAccept: */*\r\n\r\n'],
      methods: ['GET', 'GET'],
      answers: both(200, 400),
    },
    {
      name: 'pipelining: nothing more after an answer',
      parts: [OK],
      answers: both(200),
    },
  ];
}

const ALL: readonly SceneOnBoth[] = [
  ...requestLines(),
  ...headerCases(),
  ...smuggling(),
  ...framed(),
  ...brokenBodies(),
  ...paths(),
  ...methods(),
  ...upgrades(),
  ...slow(),
];

/** The cases, with what is right on one of the transports. */
export function casesOn(kind: ServerKind): readonly Case[] {
  return ALL.map(({ answers, on, ...scene }) => ({ ...scene, ...on?.[kind], answers: answers[kind] }));
}
