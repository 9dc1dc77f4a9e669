import { CodedError } from '../base/errors.ts';
import type {
  Captured,
  CaptureRefused,
  CaptureRequest,
  Claimed,
  ClaimRequest,
} from '../contract/http/capture.ts';

/** What serves `surface: app` beside the terminal (CAP-1). */
export type AppSurface = {
  capture(request: CaptureRequest): Promise<Captured | CaptureRefused>;
  claim(request: ClaimRequest): Promise<Claimed>;
};

/** A daemon without app conversations: says so and changes no surface silently (CAP-7). */
export function withoutApp(host: string): AppSurface {
  const reason = 'surface_unsupported';
  const message =
    'app conversations are not served by this daemon; leave out surface, or set it to cli, for a terminal';
  return {
    capture: async () => ({ captured: false, reason, host, message }),
    claim: async () => {
      throw new CodedError(reason, message);
    },
  };
}
