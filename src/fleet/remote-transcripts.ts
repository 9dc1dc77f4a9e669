import {
  type LinksReply,
  recheckLinks,
  type TranscriptReceipt,
  transcriptReceiptSchema,
} from '../contract/http/transcripts.ts';
import type { RemoteAddress } from '../contract/remote-address.ts';
import { askRemote } from './ask-remote.ts';

export type RemoteTranscripts = {
  /** Never rejects: a host that cannot be asked, or placed, is `host_unreachable`. */
  transcript(host: string, session: string): Promise<TranscriptReceipt>;
  links(host: string, sessions: readonly string[]): Promise<LinksReply>;
};

/** Asks remotes about transcripts that lie there. `addressOf` throws for a host that is not known. */
export function createRemoteTranscripts(options: {
  addressOf(host: string): RemoteAddress;
}): RemoteTranscripts {
  const ask = async (host: string, path: string): Promise<unknown> => {
    try {
      const answer = await askRemote(options.addressOf(host), 'GET', path);
      return answer.status === 200 ? answer.body : null;
    } catch {
      return null;
    }
  };
  return {
    async transcript(host, session) {
      const path = `/transcript?session=${encodeURIComponent(session)}`;
      const receipt = transcriptReceiptSchema.safeParse(await ask(host, path)).data;
      if (receipt === undefined || receipt.session !== session) return unreachable(session, host);
      const there = receipt.availability === 'available_local' ? 'available_remote' : receipt.availability;
      return { ...receipt, availability: there, host };
    },
    async links(host, sessions) {
      const path = `/sessions/links?sessions=${sessions.map(encodeURIComponent).join(',')}`;
      return { host, links: recheckLinks(sessions, await ask(host, path)) };
    },
  };
}

function unreachable(session: string, host: string): TranscriptReceipt {
  const nothing = { harness: null, source_path: null, byte_count: null, sha256: null };
  return { session, availability: 'host_unreachable', host, ...nothing };
}
