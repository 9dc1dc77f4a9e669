import type { HttpResponse } from 'uWebSockets.js';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionEnds } from '../platform/peer-credentials-lsof.ts';
import { formatTcpAddress } from './listen-address.ts';
import type { Binding, ConnectionSource } from './transport.ts';

type Watcher = (response: HttpResponse, count: number) => void;

/**
 * The connections of a Node server, shown to whoever watches them in the words of the other transport. A connection
 * is given to the parser a turn after it was accepted, or once it is held no more, unless it has been closed by then.
 */
export class SocketSource {
  readonly source: ConnectionSource;
  #http: Server;
  #hold: Binding['hold'];
  #watchers: Watcher[] = [];
  #open = new Set<Socket>();

  constructor(http: Server, hold: Binding['hold']) {
    this.#http = http;
    this.#hold = hold;
    this.source = {
      filter: (watcher: unknown) => {
        this.#watchers.push(watcher as Watcher);
        return undefined as never;
      },
    } as ConnectionSource;
  }

  accepted(socket: Socket): void {
    this.#open.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => this.#open.delete(socket));
    const unread = () => new Unread(socket) as unknown as HttpResponse;
    for (const watch of this.#watchers) watch(unread(), 1);
    const begin = () => {
      if (socket.destroyed || socket.writableEnded) return;
      this.#http.emit('connection', socket);
      socket.resume();
    };
    // Watchers decide in the first turn after this one; they were asked to before, so theirs comes first.
    if (this.#hold === undefined) setImmediate(begin);
    else this.#hold(unread(), endsOf(socket)).then(begin, () => socket.destroy());
  }

  async closeAll(): Promise<void> {
    const closed = [...this.#open].map((socket) => once(socket, 'close'));
    for (const socket of this.#open) socket.destroy();
    await Promise.all(closed);
  }
}

function endsOf(socket: Socket): ConnectionEnds {
  const { localAddress = '', localPort = 0, remoteAddress = '', remotePort = 0 } = socket;
  return {
    local: formatTcpAddress(localAddress, localPort),
    remote: formatTcpAddress(remoteAddress, remotePort),
  };
}

/** What of a response a watcher uses: to write lines of a head, and to close. */
class Unread {
  #socket: Socket;
  #text = '';

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  cork(write: () => void): this {
    write();
    this.#socket.write(this.#text);
    return this;
  }

  writeStatus(status: string): this {
    this.#text += `HTTP/1.1 ${status}\r\n`;
    return this;
  }

  writeHeader(name: string, value: string): this {
    this.#text += `${name}: ${value}\r\n`;
    return this;
  }

  close(): this {
    this.#socket.destroySoon();
    return this;
  }
}
