import { htmlOf } from './html-of.ts';

/** Makes markup of each text it is sent, under the same number. */
addEventListener('message', ({ data }: MessageEvent<{ number: number; markdown: string }>) => {
  postMessage({ number: data.number, html: htmlOf(data.markdown) });
});
