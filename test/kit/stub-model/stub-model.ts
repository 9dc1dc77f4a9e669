import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { messagesBody, messagesEvents, type ServerEvent } from './anthropic-wire.ts';
import { type Turn, toolNames, turnsOfMessages, turnsOfResponses } from './conversation.ts';
import { unreadFile, withMessages } from './pointers.ts';
import { responsesEvents, responsesShell } from './responses-wire.ts';
import { nextStep, type Rule, type Step } from './script.ts';

export type ModelRequest = {
  path: string;
  headers: Record<string, string | string[] | undefined>;
  model: string;
  turns: Turn[];
  tools: string[];
  /** As it came, in JSON. */
  body: string;
};

/** How a provider turns a request away. */
export type ModelRefusal = { status: number; headers: Record<string, string>; body: unknown };

/** A model on a loopback port that says what it was told to; speaks Anthropic messages and Responses. */
export type StubModel = {
  port: number;
  /** `http://127.0.0.1:<port>`, without a path. */
  url: string;
  /** Every model request so far, in order. */
  requests: ModelRequest[];
  /** Adds a rule; of two rules that match the same text the earlier one is in force. */
  script(rule: Rule): void;
  /** From now on every model request is answered with this refusal; null answers by the rules again. */
  refuse(refusal: ModelRefusal | null): void;
  /** The first request that satisfies the test, now or later; rejects after `timeout_ms`. */
  waitFor(test: (request: ModelRequest) => boolean, timeout_ms: number): Promise<ModelRequest>;
  stop(): Promise<void>;
};

type ModelBody = { model?: string; stream?: boolean; tools?: { name?: string }[] };
type Wire = { turns(body: object): Turn[]; hasShell(tools: string[]): boolean };
const WIRES: Record<string, Wire> = {
  '/v1/messages': { turns: turnsOfMessages, hasShell: (tools) => tools.includes('Bash') },
  '/v1/responses': { turns: turnsOfResponses, hasShell: (tools) => responsesShell(tools) !== undefined },
};

/** Starts the stub on a free port of 127.0.0.1. */
export async function startStubModel(rules: Rule[] = []): Promise<StubModel> {
  const requests: ModelRequest[] = [];
  const listeners = new Set<(request: ModelRequest) => void>();
  const inForce = [...rules];
  let sequence = 0;
  let refusal: ModelRefusal | null = null;

  const server = createServer(async (request, response) => {
    const path = (request.url ?? '/').split('?')[0]!;
    const wire = WIRES[path];
    if (request.method === 'HEAD') {
      response.writeHead(200).end();
      return;
    }
    if (request.method !== 'POST' || wire === undefined)
      return sendJson(response, 404, { error: 'not_found' });
    const raw = await textOf(request);
    const body = JSON.parse(raw) as ModelBody;
    const tools = toolNames(body);
    const said = wire.turns(body);
    const seen = {
      path,
      headers: request.headers,
      model: body.model ?? '',
      turns: withMessages(said),
      tools,
      body: raw,
    };
    requests.push(seen);
    for (const listener of listeners) listener(seen);
    sequence += 1;
    if (refusal !== null) {
      response.writeHead(refusal.status, { 'content-type': 'application/json', ...refusal.headers });
      response.end(JSON.stringify(refusal.body));
      return;
    }
    const unread = wire.hasShell(tools) ? unreadFile(said) : null;
    const step: Step =
      unread === null
        ? nextStep(inForce, seen.turns, wire.hasShell(tools))
        : { shell: `cat '${unread.replaceAll("'", `'\\''`)}'` };
    const answer = { step, model: seen.model, sequence, tools };
    await step.after;
    if (step.delay_ms === undefined) reply(response, path, body.stream === true, answer);
    else setTimeout(() => reply(response, path, body.stream === true, answer), step.delay_ms).unref();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  return {
    port,
    url: `http://127.0.0.1:${port}`,
    requests,
    script: (rule) => void inForce.push(rule),
    refuse(one) {
      refusal = one;
    },
    waitFor(test, timeout_ms) {
      const past = requests.find(test);
      if (past !== undefined) return Promise.resolve(past);
      return new Promise((resolve, reject) => {
        const listener = (request: ModelRequest) => {
          if (!test(request)) return;
          done();
          resolve(request);
        };
        const timer = setTimeout(() => {
          done();
          reject(new Error(`no such model request within ${timeout_ms} ms; ${requests.length} others came`));
        }, timeout_ms);
        const done = () => {
          clearTimeout(timer);
          listeners.delete(listener);
        };
        listeners.add(listener);
      });
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

type Answer = { step: Step; model: string; sequence: number; tools: string[] };

function reply(response: ServerResponse, path: string, stream: boolean, answer: Answer): void {
  const { step, model, sequence, tools } = answer;
  if (path === '/v1/responses') {
    sendEvents(response, responsesEvents(step, model, sequence, responsesShell(tools)));
  } else if (stream) {
    sendEvents(response, messagesEvents(step, model, sequence));
  } else {
    sendJson(response, 200, messagesBody(step, model, sequence));
  }
}

function sendEvents(response: ServerResponse, events: ServerEvent[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  for (const { event, data } of events) response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  response.end();
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
