/**
 * Milliseconds for which the same answer is given to everybody who asks what another thread knows at the moment: about
 * as long as a picture stays on a screen, so that whoever looks sees no difference, and hundreds who ask at once cost
 * that thread fifty answers a second.
 */
export const MOMENT_MS = 20;
