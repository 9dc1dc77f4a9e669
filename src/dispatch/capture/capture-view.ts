import type { CaptureView } from '../../contract/http/capture.ts';
import type { World } from '../world.ts';
import type { CaptureRecord } from './capture-directory.ts';

/** What `GET /state` shows of an unclaimed capture on either surface, besides its state and where it runs. */
export function viewOfCapture(
  record: CaptureRecord,
  { launches }: Pick<World, 'launches'>,
): Omit<CaptureView, 'surface' | 'mux_session' | 'state'> {
  const { session_uuid, run_id, agent, harness, project_dir, store } = record;
  const { captured_at, ended_at, ended_reason } = record;
  return {
    ...{ session_uuid, run_id, agent, harness, project_dir, store },
    ...{ captured_at, ended_at, ended_reason },
    prompt_file: launches.promptFile(record.launch_id),
  };
}
