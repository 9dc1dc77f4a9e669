/**
 * The level of the boundary between the daemon and its CLI. `svc host --json` tells it; a CLI that tells another,
 * or none, is reported at boot as a contract skew (DSP-3, VER-3).
 */
export const CONTRACT_LEVEL = 1;
