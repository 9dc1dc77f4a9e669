import { messageOf } from '../../base/errors.ts';
import { type Check, fail, ok } from './check.ts';

/** Whether the native HTTP module loads on this machine. */
export const checkNativeHttp: Check = async () => {
  try {
    await import('uWebSockets.js');
    return [ok('native http', 'the HTTP module loads')];
  } catch (error) {
    return [
      fail(
        'native http',
        `the HTTP module does not load: ${messageOf(error).split('\n')[0]}`,
        'install the package again on this machine; it must not be copied from another system',
      ),
    ];
  }
};
