/** What manifests may take. */

/** Of a file, an URL's answer: as much as the reference takes. */
export const maxManifestBytes = 10 * 1024 * 1024;
/** Of what is put: several pods, as long as pods may be. */
export const maxPutBytes = 3 * 1024 * 1024;
export const maxPutManifests = 250;
/** Of all of them: they are kept in memory too. */
export const maxPutTotalBytes = 16 * 1024 * 1024;
