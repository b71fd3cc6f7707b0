/** Times on the wire: RFC 3339 in UTC, whole seconds (`metav1.Time`) or six digits (`metav1.MicroTime`). */

export const rfc3339 = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;
