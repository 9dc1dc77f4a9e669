import type { ServerEvent } from './anthropic-wire.ts';
import type { Step } from './script.ts';

/** Shell tools of the programs that speak Responses, with the name of the argument that takes the command. */
const SHELL_ARGUMENTS: Record<string, string> = { exec_command: 'cmd', bash: 'command' };

/** The shell tool among the offered ones, or undefined. */
export function responsesShell(tools: readonly string[]): string | undefined {
  return tools.find((tool) => tool in SHELL_ARGUMENTS);
}

/** The server-sent events with which the Responses endpoint gives one answer. */
export function responsesEvents(
  step: Step,
  model: string,
  sequence: number,
  shell: string | undefined,
): ServerEvent[] {
  const id = `resp_${sequence}`;
  const { item, middle } = itemOf(step, sequence, shell);
  const response = { id, object: 'response', model, output: [] as unknown[] };
  const events: [string, Record<string, unknown>][] = [
    ['response.created', { response: { ...response, status: 'in_progress' } }],
    ['response.output_item.added', { output_index: 0, item: { ...item, status: 'in_progress' } }],
    ...middle,
    ['response.output_item.done', { output_index: 0, item }],
    [
      'response.completed',
      { response: { ...response, status: 'completed', output: [item], usage: usage() } },
    ],
  ];
  return events.map(([event, data], index) => ({
    event,
    data: { type: event, sequence_number: index, ...data },
  }));
}

type Item = { item: Record<string, unknown>; middle: [string, Record<string, unknown>][] };

function itemOf(step: Step, sequence: number, shell: string | undefined): Item {
  if ('text' in step || shell === undefined) {
    const item_id = `msg_${sequence}`;
    const text = 'text' in step ? step.text : '';
    const place = { item_id, output_index: 0, content_index: 0 };
    const part = { type: 'output_text', text, annotations: [] };
    return {
      item: { type: 'message', id: item_id, role: 'assistant', status: 'completed', content: [part] },
      middle: [
        ['response.content_part.added', { ...place, part: { ...part, text: '' } }],
        ['response.output_text.delta', { ...place, delta: text }],
        ['response.output_text.done', { ...place, text }],
        ['response.content_part.done', { ...place, part }],
      ],
    };
  }
  const item_id = `fc_${sequence}`;
  const args = JSON.stringify('tool' in step ? step.input : argumentsOf(step, shell));
  const place = { item_id, output_index: 0 };
  return {
    item: {
      type: 'function_call',
      id: item_id,
      call_id: `call_${sequence}`,
      name: 'tool' in step ? step.tool : shell,
      arguments: args,
      status: 'completed',
    },
    middle: [
      ['response.function_call_arguments.delta', { ...place, delta: args }],
      ['response.function_call_arguments.done', { ...place, arguments: args }],
    ],
  };
}

function argumentsOf({ shell: command, background }: Extract<Step, { shell: string }>, shell: string) {
  const argument = SHELL_ARGUMENTS[shell]!;
  return background === true && shell === 'exec_command'
    ? { [argument]: command, yield_time_ms: 250 }
    : { [argument]: command };
}

function usage() {
  return {
    input_tokens: 1,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 1,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 2,
  };
}
