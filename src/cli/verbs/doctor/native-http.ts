import { messageOf } from '../../../base/errors.ts';
import { type Check, fail, ok, warn } from './check.ts';

const MEND = 'install the package again';

/** Whether the native HTTP module loads on this machine, if SVC_HTTP uses it. */
export const checkNativeHttp: Check = async ({ settings }) => {
  if (settings.http === 'node') return [ok('native http', 'not used: SVC_HTTP asks for Node’s own server')];
  try {
    await import('uWebSockets.js');
    return [ok('native http', 'the HTTP module loads')];
  } catch (error) {
    const what = `the HTTP module does not load: ${messageOf(error).split('\n')[0]}`;
    return settings.http === 'uws'
      ? [fail('native http', what, MEND)]
      : [warn('native http', `${what}; Node’s own server is used, which is slower`, MEND)];
  }
};
