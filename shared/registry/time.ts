/** metav1.Time on the wire: RFC 3339, UTC, whole seconds. */
export const timestamp = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;
