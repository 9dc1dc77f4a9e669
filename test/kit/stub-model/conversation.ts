/** What a model request says, in the order it was said, whichever wire shape it came in. */
export type Turn = { from: 'user' | 'tool'; text: string };

type Block = { type?: string; text?: string; content?: unknown; output?: unknown };

/** The user texts and tool results of an Anthropic `messages` request. */
export function turnsOfMessages(body: { messages?: { role: string; content: unknown }[] }): Turn[] {
  return (body.messages ?? [])
    .filter((message) => message.role === 'user')
    .flatMap((message) => blocks(message.content))
    .map(
      (block): Turn =>
        block.type === 'tool_result'
          ? { from: 'tool', text: flatten(block.content) }
          : { from: 'user', text: block.text ?? '' },
    );
}

/** The user texts and tool results of a Responses request. */
export function turnsOfResponses(body: { input?: unknown }): Turn[] {
  if (typeof body.input === 'string') return [{ from: 'user', text: body.input }];
  return ((body.input ?? []) as (Block & { role?: string })[]).flatMap((item): Turn[] => {
    if (item.type === 'function_call_output') return [{ from: 'tool', text: flatten(item.output) }];
    if (item.role !== 'user') return [];
    return blocks(item.content).map((block) => ({ from: 'user', text: block.text ?? '' }));
  });
}

/** Names of the tools that a request offers. */
export function toolNames(body: { tools?: { name?: string }[] }): string[] {
  return (body.tools ?? []).flatMap((tool) => (tool.name === undefined ? [] : [tool.name]));
}

function blocks(content: unknown): Block[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return Array.isArray(content) ? (content as Block[]) : [];
}

function flatten(content: unknown): string {
  if (typeof content === 'string') return content;
  return blocks(content)
    .map((block) => block.text ?? '')
    .join('');
}
