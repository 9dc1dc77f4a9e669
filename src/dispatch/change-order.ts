/** What a `ChangeOrder` keeps in each of its members; of one that has not changed yet, 0 and null. */
export type Changed = {
  /** The number of its last change. */
  change: number;
  older: Changed | null;
  newer: Changed | null;
};

/** Members by their last change, as a linked list: a change, and what changed lately, cost nothing for the others. */
export class ChangeOrder<T extends Changed> {
  #newest: Changed | null = null;

  /** `change` is above that of every member. */
  changed(member: T, change: number): void {
    this.forget(member);
    member.change = change;
    member.older = this.#newest;
    if (this.#newest !== null) this.#newest.newer = member;
    this.#newest = member;
  }

  forget(member: T): void {
    if (member.newer !== null) member.newer.older = member.older;
    else if (this.#newest === member) this.#newest = member.older;
    if (member.older !== null) member.older.newer = member.newer;
    member.older = null;
    member.newer = null;
  }

  /** Members that changed after `change`, the newest first. */
  *after(change: number): Generator<T> {
    for (let member = this.#newest; member !== null && member.change > change; member = member.older)
      yield member as T;
  }
}
