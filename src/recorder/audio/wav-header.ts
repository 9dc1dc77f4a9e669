import { SAMPLE_RATE } from '../../contract/recorder.ts';

/** Bytes of the header of a WAV file, before its samples. */
export const WAV_HEADER_BYTES = 44;
const SAMPLE_BYTES = 2;
/** Most bytes of samples that a WAV file can say it has: 37 hours. */
export const MOST_WAV_BYTES = 4_294_967_250;

/** The header of a WAV file with so many bytes of samples: 16 bit, 16 kHz, one channel. */
export function wavHeader(bytes: number): Buffer {
  const header = Buffer.alloc(WAV_HEADER_BYTES);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(WAV_HEADER_BYTES - 8 + bytes, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(SAMPLE_RATE, 24);
  header.writeUInt32LE(SAMPLE_RATE * SAMPLE_BYTES, 28);
  header.writeUInt16LE(SAMPLE_BYTES, 32);
  header.writeUInt16LE(8 * SAMPLE_BYTES, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(bytes, 40);
  return header;
}
