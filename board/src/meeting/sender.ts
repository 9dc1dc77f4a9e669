/** Runs in a worker, so that a busy page delays no audio: it takes frames from the audio thread and owns the socket. */
import { peakOf } from '../model/frames.ts';
import { AudioLink } from './audio-link.ts';
import type { FromSender, ToSender } from './sender-messages.ts';

/** Frames between two reports: 100 ms. */
const REPORT_FRAMES = 5;
/** Nobody is told how the sender went any more, so it must not outlive its page. */
const NORMAL_CLOSURE = 1_000;

const tell = (message: FromSender) => postMessage(message);
let link: AudioLink | null = null;
let peak: number | null = null;
let frames = 0;
let behind = 0;

addEventListener('message', ({ data }: MessageEvent<ToSender>) => {
  if (data.kind === 'listen')
    data.port.onmessage = ({ data: frame }: MessageEvent<ArrayBuffer>) => take(frame);
  else if (data.kind === 'connect') {
    link?.close();
    link = linkTo(data.url);
    link.open();
  } else {
    link?.close();
    close();
  }
});

function linkTo(url: string): AudioLink {
  return new AudioLink(
    {
      open(on) {
        const socket = new WebSocket(url);
        socket.onmessage = ({ data }) => on.message(String(data));
        socket.onclose = ({ code, reason }) => on.closed(code, reason);
        return {
          send: (frame) => socket.send(frame),
          buffered: () => socket.bufferedAmount,
          close() {
            socket.onclose = null;
            socket.onmessage = null;
            socket.close(NORMAL_CLOSURE);
          },
        };
      },
      now: Date.now,
      after(ms, run) {
        const timer = setTimeout(run, ms);
        return () => clearTimeout(timer);
      },
    },
    (state) => tell({ kind: 'state', state }),
  );
}

function take(frame: ArrayBuffer): void {
  const loudest = peakOf(new Int16Array(frame));
  if (loudest !== null) peak = Math.max(peak ?? loudest, loudest);
  if (link?.send(frame) === 'behind') behind += 1;
  frames += 1;
  if (frames % REPORT_FRAMES > 0) return;
  tell({ kind: 'level', peak_db: peak, behind });
  peak = null;
}
