/**
 * The version of the interface between the daemon and its CLI. `svc host --json` reports it; a CLI with another
 * version, or none, is reported at boot as a contract skew (DSP-3, VER-3).
 */
export const CONTRACT_LEVEL = 1;
