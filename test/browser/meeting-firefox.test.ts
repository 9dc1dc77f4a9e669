import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../kit/until.ts';
import { fill, read } from './controls.ts';
import { PHONE } from './desk-page.ts';
import { Firefox, NO_FIREFOX } from './firefox.ts';
import { MeetingStandIn } from './meeting-stand-in.ts';

const TITLE = `the page of a phone in Firefox${NO_FIREFOX === null ? '' : ` (${NO_FIREFOX})`}`;

describe.skipIf(NO_FIREFOX !== null)(TITLE, () => {
  const firefox = new Firefox();
  let daemon: MeetingStandIn;

  beforeAll(async () => {
    [daemon] = await Promise.all([MeetingStandIn.start(), firefox.start()]);
  });

  afterAll(async () => {
    await firefox.close();
    await daemon?.close();
  });

  it('opens the microphone and connects under the policy of the page, and says so where the machine lets no sound through', async () => {
    const page = await firefox.open(`http://127.0.0.1:${daemon.port}/?view=meeting`, PHONE);
    await read(page, 'Start recording');
    await fill(page, 'Project', '/p/gauges');
    // Only a person’s own click lets a page open the microphone.
    await page.click('button[type=submit]');
    await until('its connection', () => daemon.sent.length === 1);
    // Firefox runs no sound on a machine without a device for it.
    await read(page, /This phone is the microphone\.|This device silences its microphone now/);
    expect(page.complaints).toEqual([]);
  });
});
