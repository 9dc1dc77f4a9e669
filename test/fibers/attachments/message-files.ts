import { sha256 } from './images.ts';

export type SentFile = { name: string; data: string; sha256: string };

/** A file as a client sends it. */
export function sentFile(name: string, bytes: Uint8Array | string = `the bytes of ${name}`): SentFile {
  const content = Buffer.from(bytes);
  return { name, data: content.toString('base64'), sha256: sha256(content) };
}

export const FILE_MESSAGE = {
  address: 'svc://host-a/claude/s-1',
  text: 'Look at these files.',
  from: 'ada',
  message_id: 'm-1',
};

export function fileMessageBody(attachments: unknown, more: object = {}): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(JSON.stringify({ ...FILE_MESSAGE, attachments, ...more }));
}
