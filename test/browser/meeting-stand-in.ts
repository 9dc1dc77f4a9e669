import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { WebSocket, WebSocketServer } from 'ws';
import { SECURITY_HEADERS } from '../../src/access/security-headers.ts';
import {
  AUDIO_CLOSE_CODES,
  type AudioMessage,
  audioQuerySchema,
  type Meeting,
  type MeetingAnswer,
  meetingMarkedSchema,
  meetingQuerySchema,
  meetingStoppedSchema,
} from '../../src/contract/http/meeting.ts';
import { builtBoard } from '../kit/built-package.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
};

/** What a phone sent over one connection: its bytes, and when each frame came. */
export type Sent = { frames: Buffer[]; at: number[]; socket: WebSocket };

/**
 * What the page of a phone sees of a daemon: the built page, and answers that a test decides. It brings about in a moment
 * what a recorder would take minutes for, or a daemon never does.
 */
export class MeetingStandIn {
  readonly #server: Server;
  readonly #sockets = new WebSocketServer({ noServer: true });
  /** What `GET /meeting` answers; null breaks the connection. */
  answer: MeetingAnswer | null = {
    available: true,
    unavailable: null,
    modes: ['phone'],
    meeting: null,
    audio: null,
  };
  /** What is said to a phone that connects; one that took over before is told so. */
  greets: AudioMessage = { state: 'connected' };
  /** What the next start answers with, in place of a meeting. */
  refuses: { status: number; body: object } | null = null;
  readonly asked: { path: string; body: unknown }[] = [];
  readonly sent: Sent[] = [];

  private constructor(server: Server) {
    this.#server = server;
    server.on('request', (request, response) => void this.#serve(request, response));
    server.on('upgrade', (request, socket, head) => {
      audioQuerySchema.parse(queryOf(request));
      this.#sockets.handleUpgrade(request, socket, head, (phone) => this.#take(phone));
    });
  }

  static async start(): Promise<MeetingStandIn> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new MeetingStandIn(server);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** The meeting that is there; a change of it is what is answered from now on. */
  become(change: Partial<Meeting> | null): void {
    if (this.answer === null) throw new Error('the stand-in does not answer');
    const before = this.answer.meeting ?? MEETING;
    this.answer = { ...this.answer, meeting: change === null ? null : { ...before, ...change } };
  }

  /** Says something to the phone that is connected, and closes its socket where the daemon would. */
  say(message: AudioMessage): void {
    const phone = this.sent.at(-1)?.socket;
    if (phone !== undefined) tell(phone, message);
  }

  /** Starts as new. */
  forget(): void {
    for (const { socket } of this.sent) socket.terminate();
    this.sent.length = 0;
    this.asked.length = 0;
    this.refuses = null;
    this.greets = { state: 'connected' };
    this.answer = { available: true, unavailable: null, modes: ['phone'], meeting: null, audio: null };
  }

  async close(): Promise<void> {
    this.forget();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #take(socket: WebSocket): void {
    const before = this.sent.at(-1)?.socket;
    if (before?.readyState === WebSocket.OPEN) tell(before, { state: 'replaced', reason: 'Another phone.' });
    const sent: Sent = { frames: [], at: [], socket };
    this.sent.push(sent);
    socket.on('message', (frame: Buffer, binary) => {
      if (!binary) return;
      sent.frames.push(frame);
      sent.at.push(performance.now());
    });
    tell(socket, this.greets);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://stand-in');
    const json = (status: number, body: unknown) => {
      response.writeHead(status, { ...SECURITY_HEADERS, 'Content-Type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    if (request.method === 'POST') {
      let text = '';
      for await (const chunk of request) text += String(chunk);
      const path = pathname.replace('/api/v1', '');
      this.asked.push({ path, body: JSON.parse(text) });
      const { refuses } = this;
      if (refuses !== null) return json(refuses.status, refuses.body);
      if (path === '/meeting/stop') this.become({ state: 'stopping' });
      else if (path !== '/meeting/mark') this.become({ state: 'live', started_at: Date.now() });
      const meeting = this.answer?.meeting;
      return json(
        200,
        path === '/meeting/mark'
          ? meetingMarkedSchema.parse({ line: '# mark 10:04:31 agreed', meeting, undelivered: null })
          : meetingStoppedSchema.parse({ meeting }),
      );
    }
    if (pathname === '/api/v1/meeting') {
      meetingQuerySchema.parse(queryOf(request));
      if (this.answer === null) request.socket.destroy();
      else json(200, this.answer);
    } else if (pathname === '/api/v1/fiber-stores')
      json(200, {
        host: 'harbor',
        origins: { harbor: { stores: ['/s'], projects: ['/p/gauges', '/p/atlas'] } },
      });
    else if (pathname.startsWith('/api/')) json(404, { error: 'not_found', message: 'Not here.' });
    else {
      const name =
        pathname === '/'
          ? searchParams.get('view') === 'meeting'
            ? 'meeting.html'
            : 'index.html'
          : pathname;
      response.writeHead(200, { ...SECURITY_HEADERS, 'Content-Type': TYPES[extname(name)] ?? 'text/plain' });
      response.end(readFileSync(join(builtBoard(), name)));
    }
  }
}

function queryOf({ url = '' }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(new URL(url, 'http://stand-in').searchParams);
}

const MEETING: Meeting = {
  ...{ state: 'live', mode: 'phone', title: 'Review of the gauges', started_at: 0, tail: [] },
  ...{ transcript: '/data/meetings/review.txt', mirror_host: null, fiber: null, joined: false, phone: true },
  ...{ launch: 'launch-1', mux_session: 'recorder-meeting', error: null },
};

function tell(phone: WebSocket, message: AudioMessage): void {
  phone.send(JSON.stringify(message));
  if (message.state === 'waiting' || message.state === 'connected') return;
  phone.close(AUDIO_CLOSE_CODES[message.state], message.reason);
}
