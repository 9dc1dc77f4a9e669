import { pollerCalls, pollerEvents } from '../src/contract/threads/poller.ts';
import { startPoller } from '../src/dispatch/poller.ts';
import type { PollerSettings } from '../src/dispatch/world/poller-settings.ts';
import { runComponent } from '../src/threads/worker-main.ts';

await runComponent<PollerSettings, typeof pollerCalls, typeof pollerEvents>({
  name: 'poller',
  calls: pollerCalls,
  events: pollerEvents,
  start: startPoller,
});
