/** Every bound on what a stranger can make the server do, in one place, each with its reason. */

/** Bodies over this answer 413; the reference's own limit, and the most that a stored object may hold. */
export const maxBodyBytes = 3 * 1024 * 1024;
/**
 * Deeper JSON is refused before it is parsed: a recursive walk must not meet it. The reference stops at 10,000; here the platform's own
 * serializer gives up at some 4,000, and walks of ours earlier.
 */
export const maxJsonDepth = 1_000;
/** A protobuf message inside of another one, this often. Nothing that is served comes near; a walk over what was read must not meet more. */
export const maxProtobufDepth = 500;
/** Messages in one protobuf body. An empty one takes two bytes on the wire and some hundred in memory. */
export const maxProtobufMessages = 250_000;
/** All annotations of an object together, keys and values. */
export const maxAnnotationsBytes = 256 * 1024;
/** Operations in one JSON patch: each may copy a subtree, so a small body could otherwise ask for huge work. */
export const maxJsonPatchOperations = 10_000;
/** A patch that loses its race is tried again this often before the client hears of a conflict. */
export const maxPatchRetries = 5;
/** Who is charged for what it is about to use, and finds that others were faster. The reference's 3 do where one process charges; here many may. */
export const maxQuotaRetries = 16;
/** How long a read waits for a resourceVersion from the future before it answers 504. */
export const futureRevisionWaitMs = 3_000;
/** Below the gateways' idle limits, so that a quiet watch stays open. */
export const bookmarkIntervalMs = 60_000;
/** A watcher that has this much unsent is cut; it resumes from its last version. */
export const watchBufferBytes = 4 * 1024 * 1024;
/** Watches end by themselves after this long (plus up to as much again, spread by chance) when the client names no timeout. */
export const minWatchTimeoutMs = 1_800_000;
/** Answers larger than this are compressed for clients that accept it, as the reference does. */
export const gzipThresholdBytes = 128 * 1024;
/** URLs and headers over this are refused by the HTTP server before a handler sees them. */
export const maxHeaderBytes = 1024 * 1024;
