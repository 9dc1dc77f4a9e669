import type { Step } from './script.ts';

export type ServerEvent = { event: string; data: Record<string, unknown> };

/** The server-sent events with which the Anthropic messages endpoint gives one answer. */
export function messagesEvents(step: Step, model: string, sequence: number): ServerEvent[] {
  const block = blockOf(step, sequence);
  const named = (type: string, data: Record<string, unknown> = {}) => ({
    event: type,
    data: { type, ...data },
  });
  return [
    named('message_start', { message: message(model, sequence, [], null) }),
    named('content_block_start', { index: 0, content_block: block.empty }),
    named('content_block_delta', { index: 0, delta: block.delta }),
    named('content_block_stop', { index: 0 }),
    named('message_delta', {
      delta: { stop_reason: block.stop_reason, stop_sequence: null },
      usage: { output_tokens: 1 },
    }),
    named('message_stop'),
  ];
}

/** The same answer for a request that does not stream. */
export function messagesBody(step: Step, model: string, sequence: number): Record<string, unknown> {
  const block = blockOf(step, sequence);
  return message(model, sequence, [block.full], block.stop_reason);
}

function message(model: string, sequence: number, content: unknown[], stop_reason: string | null) {
  return {
    id: `msg_${sequence}`,
    type: 'message',
    role: 'assistant',
    model,
    content,
    stop_reason,
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  };
}

function blockOf(step: Step, sequence: number) {
  if ('text' in step) {
    return {
      empty: { type: 'text', text: '' },
      delta: { type: 'text_delta', text: step.text },
      full: { type: 'text', text: step.text },
      stop_reason: 'end_turn',
    };
  }
  const id = `toolu_${sequence}`;
  const call = { type: 'tool_use', id, name: 'tool' in step ? step.tool : 'Bash' };
  const input = inputOf(step);
  return {
    empty: { ...call, input: {} },
    delta: { type: 'input_json_delta', partial_json: JSON.stringify(input) },
    full: { ...call, input },
    stop_reason: 'tool_use',
  };
}

function inputOf(step: Exclude<Step, { text: string }>): Record<string, unknown> {
  if ('tool' in step) return step.input;
  const background = step.background === true ? { run_in_background: true } : {};
  return { command: step.shell, description: 'Run one command', ...background };
}
