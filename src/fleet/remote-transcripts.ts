import {
  type LinksReply,
  recheckLinks,
  type TranscriptReceipt,
  transcriptReceiptSchema,
} from '../contract/http/transcripts.ts';
import { askRemote } from './ask-remote.ts';
import type { Place } from './read-remote.ts';

export type RemoteTranscripts = {
  /** Never rejects: a host that cannot be asked, or placed, is `host_unreachable`. `hops` are those it was asked by way of. */
  transcript(host: string, session: string, hops: readonly string[]): Promise<TranscriptReceipt>;
  links(host: string, sessions: readonly string[], hops: readonly string[]): Promise<LinksReply>;
};

/** Asks remotes about transcripts that lie there. `remoteAt` rejects for a host that is not known, or answers nobody now. */
export function createRemoteTranscripts({
  host: here,
  remoteAt,
}: {
  /** The id of this host. */
  host: string;
  remoteAt(host: string): Promise<Place>;
}): RemoteTranscripts {
  const ask = async (host: string, path: string, hops: readonly string[]): Promise<unknown> => {
    try {
      const answer = await askRemote(await remoteAt(host), { method: 'GET', path, hops: [...hops, here] });
      return answer.status === 200 ? answer.body : null;
    } catch {
      return null;
    }
  };
  return {
    async transcript(host, session, hops) {
      const path = `/transcript?host=${encodeURIComponent(host)}&session=${encodeURIComponent(session)}`;
      const receipt = transcriptReceiptSchema.safeParse(await ask(host, path, hops)).data;
      if (receipt === undefined || receipt.session !== session) return unreachable(session, host);
      const there = receipt.availability === 'available_local' ? 'available_remote' : receipt.availability;
      return { ...receipt, availability: there, host };
    },
    async links(host, sessions, hops) {
      const named = sessions.map(encodeURIComponent).join(',');
      const path = `/sessions/links?host=${encodeURIComponent(host)}&sessions=${named}`;
      return { host, links: recheckLinks(sessions, await ask(host, path, hops)) };
    },
  };
}

function unreachable(session: string, host: string): TranscriptReceipt {
  const nothing = { harness: null, source_path: null, byte_count: null, sha256: null };
  return { session, availability: 'host_unreachable', host, ...nothing };
}
