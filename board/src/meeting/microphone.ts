import { trustedScript } from '../lib/trusted-script.ts';
import type { LinkState } from '../model/audio-words.ts';
import senderUrl from './sender.ts?worker&url';
import type { FromSender, ToSender } from './sender-messages.ts';
import tapUrl from './tap.ts?worker&url';

/** A microphone that is open, and sends once it is connected. */
export type Microphone = {
  /** Sends to the meeting with this launch id, also after its last connection was ended. */
  connect(launch: string): void;
  /** Lets go of the microphone and of the socket. */
  close(): void;
};

/** What is told of an open microphone. */
export type Heard = {
  state(state: LinkState): void;
  level(level: { peak_db: number | null; behind: number }): void;
  /** The system silences the microphone for now, or gave it back. */
  muted(muted: boolean): void;
  /** The system took it away for good. */
  taken(): void;
};

/** Echo and noise are parts of a room that a recorder hears better without a telephone’s treatment. */
const AUDIO = { echoCancellation: false, noiseSuppression: false, autoGainControl: false, channelCount: 1 };

/**
 * Opens the microphone. Has to be called by a tap, before anything else is waited for. Rejects with the browser’s own error where there is no
 * microphone, or it may not be used.
 */
export async function openMicrophone(on: Heard): Promise<Microphone> {
  const context = new AudioContext();
  // A browser may let it wait, which is told by its state.
  void context.resume().catch(() => undefined);
  let stream: MediaStream | null = null;
  try {
    stream = await navigator.mediaDevices.getUserMedia({ audio: AUDIO });
    await context.audioWorklet.addModule(trustedScript(tapUrl));
    return connectable(context, stream, on);
  } catch (error) {
    for (const track of stream?.getTracks() ?? []) track.stop();
    await context.close();
    throw error;
  }
}

function connectable(context: AudioContext, stream: MediaStream, on: Heard): Microphone {
  const tap = new AudioWorkletNode(context, 'tap', {
    channelCount: 1,
    channelCountMode: 'explicit',
    outputChannelCount: [1],
  });
  // It stays silent; a browser asks only what leads to its output.
  context.createMediaStreamSource(stream).connect(tap).connect(context.destination);
  const sender = new Worker(trustedScript(senderUrl), { type: 'module' });
  const tell = (message: ToSender, moved: Transferable[] = []) => sender.postMessage(message, moved);
  sender.onmessage = ({ data }: MessageEvent<FromSender>) => {
    if (data.kind === 'state') on.state(data.state);
    else on.level(data);
  };
  tell({ kind: 'listen', port: tap.port }, [tap.port]);
  const tracks = stream.getAudioTracks();
  const tellMuted = () => on.muted(context.state !== 'running' || tracks.some(({ muted }) => muted));
  for (const track of tracks) {
    track.onended = () => on.taken();
    track.onmute = tellMuted;
    track.onunmute = tellMuted;
  }
  // A phone stops the audio of a page for a call, and does not always begin again by itself.
  const wake = () => {
    if (!document.hidden && context.state !== 'closed') void context.resume();
  };
  document.addEventListener('visibilitychange', wake);
  context.onstatechange = tellMuted;
  tellMuted();
  return {
    connect: (launch) => tell({ kind: 'connect', url: audioUrl(launch) }),
    close() {
      document.removeEventListener('visibilitychange', wake);
      context.onstatechange = null;
      for (const track of stream.getTracks()) {
        track.onended = null;
        track.stop();
      }
      tell({ kind: 'close' });
      void context.close();
    },
  };
}

function audioUrl(launch: string): string {
  const scheme = location.protocol === 'https:' ? 'wss' : 'ws';
  return `${scheme}://${location.host}/api/v1/meeting/audio?launch=${encodeURIComponent(launch)}`;
}
