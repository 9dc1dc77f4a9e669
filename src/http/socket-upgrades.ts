import type { Clock } from '../base/clock.ts';
import { runForRequest } from '../base/request-scope.ts';
import type { Answering } from './answering.ts';
import { refusal } from './error-reply.ts';
import type { OpenSockets } from './open-sockets.ts';
import type { Call } from './request-call.ts';
import { handshakeFault } from './request-head.ts';
import type { RequestInput } from './request-input.ts';
import type { Row } from './row.ts';
import { View } from './row-calls.ts';
import type { Socket, SocketHandler, SocketRules } from './socket.ts';
import { relayRow, relaySocket } from './socket-relay.ts';

export type UpgradeOptions = {
  /** The id of this host. */
  host: string;
  /** The 503 body while the daemon boots, null once it is ready (RDY-1). */
  booting: () => Readonly<Record<string, unknown>> | null;
  clock: Clock;
};

/** Makes a WebSocket of a request whose row has one, here or at the daemon of another host. */
export class SocketUpgrades {
  readonly #options: UpgradeOptions;
  readonly #answers: Answering;
  readonly #input: RequestInput;
  readonly #sockets: OpenSockets;

  constructor(options: UpgradeOptions, answers: Answering, input: RequestInput, sockets: OpenSockets) {
    this.#options = options;
    this.#answers = answers;
    this.#input = input;
    this.#sockets = sockets;
  }

  upgrade(call: Call, row: Row, params: Readonly<Record<string, string>>): void {
    const { exchange, head } = call;
    const { socket } = row;
    const fault =
      socket === undefined
        ? 'There is no WebSocket at this path; send the request without an Upgrade header.'
        : handshakeFault(head);
    if (socket === undefined || fault !== null || !exchange.upgradable) {
      const sentence = fault ?? 'The handshake of the WebSocket cannot be read.';
      this.#answers.fail(call, refusal('invalid_request', sentence, { issues: [] }), true);
      return;
    }
    const booting = row.state === 'ready' ? this.#options.booting() : null;
    if (booting !== null) {
      this.#answers.answer(call, { status: 503, json: booting }, true);
      return;
    }
    const query = this.#input.query(call, row);
    const { forward } = call;
    const rules = forward === null ? socket : relayRow(socket);
    if (this.#answers.closing || !this.#sockets.hasRoom(rules)) {
      const sentence = `At most ${rules.most} clients may have ${row.path} open at one time; close one.`;
      this.#answers.fail(call, refusal('too_many_connections', sentence), true);
      return;
    }
    const view = new View(call, params, query, undefined);
    const opens = forward === null ? socket : { ...rules, open: this.#relay(call, rules, forward) };
    runForRequest(exchange.id, () =>
      exchange.upgrade((wire) => this.#sockets.opened(opens, view, wire, rules)),
    );
    this.#answers.tell(call, 101, null);
  }

  /** Serves a client with what the daemon of another host tells. */
  #relay(
    { exchange, head, hops }: Call,
    rules: SocketRules,
    to: NonNullable<Call['forward']>,
  ): (client: Socket) => SocketHandler {
    const { host, clock } = this.#options;
    const foreign = { from: { host, id: exchange.id }, head, hops, to };
    return (client) => relaySocket(foreign, rules, client, clock);
  }
}
