import type { AudioState } from '../contract/http/state.ts';

/** What the audio component knows: the running meeting and the phones that are connected. */
export class MeetingState {
  #sockets = 0;

  /** Counts a connected phone; call the returned function once when it disconnects. */
  socketOpened(): () => void {
    this.#sockets += 1;
    let open = true;
    return () => {
      if (open) this.#sockets -= 1;
      open = false;
    };
  }

  view(): AudioState {
    return { meeting: null, sockets: this.#sockets };
  }
}
