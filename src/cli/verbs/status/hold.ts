/** The command that lets a fiber start which is held for this reason. */
export function letGo(reason: string, fiber_id: string, svc = 'svc'): string {
  switch (reason) {
    case 'boot_quarantine':
      return `${svc} daemon release`;
    case 'not_concluded':
      return `${svc} why ${fiber_id}`;
    default:
      return `${svc} resume ${fiber_id}`;
  }
}

/** The reason with what the person said who held it. */
export function describeHold(reason: string, note: string | null | undefined): string {
  return note ? `${reason} (${note})` : reason;
}
