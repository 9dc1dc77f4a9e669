import type { Settings } from '../src/config/settings.ts';
import { audioCalls, audioEvents } from '../src/contract/threads/audio.ts';
import { MeetingState } from '../src/meetings/meeting-state.ts';
import { runComponent } from '../src/threads/worker-main.ts';

await runComponent<Settings, typeof audioCalls, typeof audioEvents>({
  name: 'audio',
  calls: audioCalls,
  events: audioEvents,
  async start() {
    const meeting = new MeetingState();
    return {
      handlers: { state: () => meeting.view() },
      stop: async () => undefined,
    };
  },
});
