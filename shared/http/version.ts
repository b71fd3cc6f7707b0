/** The release that the server behaves as. */
export const emulated = {major: '1', minor: '36', patch: '3', minCompatibilityMinor: '35'};

/** /version. Clients compare major and minor with their own; `platform` and `goVersion` are expected to be there. */
export const versionInfo = {
  major: emulated.major,
  minor: emulated.minor,
  emulationMajor: emulated.major,
  emulationMinor: emulated.minor,
  minCompatibilityMajor: emulated.major,
  minCompatibilityMinor: emulated.minCompatibilityMinor,
  gitVersion: `v${emulated.major}.${emulated.minor}.${emulated.patch}+clusterless`,
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: 'go1.26',
  compiler: 'gc',
  platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
};
