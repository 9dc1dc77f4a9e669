import { ulid } from 'ulid';
import type { AccessPolicy } from '../src/access/decide-access.ts';
import { dataPaths } from '../src/config/paths.ts';
import type { Settings } from '../src/config/settings.ts';
import { audioCalls, audioEvents, audioHears } from '../src/contract/threads/audio.ts';
import { AudioRelay } from '../src/meetings/audio-relay.ts';
import { MeetingFiles } from '../src/meetings/meeting-record.ts';
import { MeetingService } from '../src/meetings/meeting-service.ts';
import { keepRemovingOldAudio } from '../src/meetings/old-audio.ts';
import { findRecorder } from '../src/meetings/recorder-program.ts';
import { threadDisks } from '../src/platform/foreign-paths.ts';
import { systemMonotonic } from '../src/platform/monotonic.ts';
import { serverAt } from '../src/platform/own-socket.ts';
import { createRunner } from '../src/platform/process.ts';
import { createProcessFacts, isAlive } from '../src/platform/process-facts.ts';
import { withStorageErrors } from '../src/platform/storage-error.ts';
import type { Handlers } from '../src/threads/calls.ts';
import { runComponent } from '../src/threads/worker-main.ts';

/** From the start of this component to the listener for audio alone, in milliseconds. */
const LISTEN_AFTER_MS = 500;

type AudioSettings = Settings & { host_id: string; access: AccessPolicy };

await runComponent<AudioSettings, typeof audioCalls, typeof audioEvents, typeof audioHears>({
  name: 'audio',
  calls: audioCalls,
  events: audioEvents,
  hears: audioHears,
  async start({ settings, clock, logger, host, notify }) {
    const { env, platform } = process;
    const facts = createProcessFacts({ platform, runner: createRunner() });
    const { meetings_dir: folder, audio_socket } = dataPaths(settings);
    const service = new MeetingService({
      files: new MeetingFiles({ folder, logger }),
      sessions: {
        start: (spec) => host.call('start_recorder', spec),
        look: (name) => host.call('recorder_session', { name }),
        end: async (name) => (await host.call('end_recorder', { name })).ended,
      },
      findRecorder: () => findRecorder({ configured: settings.recorder, platform, path: env.PATH ?? '' }),
      tmux_socket: settings.tmux_socket,
      ...{ platform, env, clock, logger, monotonic: systemMonotonic },
      newLaunch: () => ulid(clock.now()),
      lifeOf: (identity) => isAlive(facts, identity),
      interrupt: ({ pid }) => void process.kill(pid, 'SIGINT'),
      onLook: () => relay.followMeeting(),
    });
    const relay = new AudioRelay({
      ...{ clock, logger },
      meeting: () => service.relayed(),
      look: () => service.look(),
      requireOwn: (socket) => serverAt({ socket }),
    });
    const phones = relay.listener((sockets) => void notify('audio_sockets', { sockets }));
    const stopRemoving = keepRemovingOldAudio({ folder, keep_days: settings.recorder_audio_days, clock });
    await service.begin();
    const { host_id, access } = settings;
    let listener: Promise<() => Promise<void>> | null = null;
    // The daemon would be ready later if its code were loaded while the other components start.
    const cancelListening = clock.after(LISTEN_AFTER_MS, () => {
      listener = import('../src/audio-listener.ts').then(({ openAudioListener }) =>
        openAudioListener({ socket: audio_socket, host: host_id, access, relay, clock, logger }),
      );
    });
    // After this component is ready, so that the answer to it is heard.
    clock.after(0, () => void notify('audio_started', {}));
    return {
      handlers: withStorageErrors(settings.data_dir, {
        state: () => ({ meeting: service.summary(), sockets: relay.sockets }),
        meeting: async () => ({
          ...(await service.capabilities()),
          meeting: await service.row(),
          place: service.place(),
          audio: relay.view(),
        }),
        start_meeting: (asked) => service.start(asked),
        stop_meeting: ({ dry_run }) => service.stop(dry_run),
        mark_meeting: ({ text, dry_run }) => service.mark(text, dry_run),
      } satisfies Handlers<typeof audioCalls>),
      hearers: {
        audio_opened: ({ id, launch }) => phones.open(id, launch),
        audio_frame: ({ id, missed }, bytes) => phones.frame(id, bytes ?? new Uint8Array(), missed),
        audio_closed: ({ id }) => phones.close(id),
      },
      async stop() {
        stopRemoving();
        cancelListening();
        await (await listener)?.();
        relay.stop();
        service.stopLooking();
        threadDisks().stop();
      },
    };
  },
});
