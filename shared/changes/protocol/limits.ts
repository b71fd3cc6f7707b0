/** Bounds of the watch protocol, each with its reason. */

/**
 * Every message in both directions. API Gateway takes frames of 32 KB and does not say whether it splits what is posted to it, so a
 * message is a frame; it also counts and charges in pieces of 32 KB. Some room is left for the frame's own head.
 */
export const maxMessageBytes = 32_000;
/** Parts of one message: an object of 3 MiB with what a Table or another version adds to it. */
export const maxParts = 256;
/** A subscription's name is the client's choice and is repeated in every pong. */
export const maxIdLength = 64;
/** On one connection: a pong names all of them and must stay below one message. */
export const maxSubscriptions = 200;
/** How long a connection may stay without a hello. */
export const helloMs = 10_000;
/** API Gateway ends what is idle for 10 minutes; so does everybody else who speaks this. */
export const silenceMs = 600_000;
/** Below API Gateway's two hours. */
export const connectionMs = 6_600_000;
/** A credential whose end is not known is asked for again after this long. */
export const renewalMs = 3_600_000;
/** Messages that a client may send in one go, as after a reconnect: all its subscriptions, and some. */
export const burstMessages = 500;
/** And from then on. */
export const messagesPerSecond = 50;
/** Changes that a replay goes through. Who is further behind than this lists anew: that is cheaper for both. */
export const maxReplayChanges = 50_000;
