/** A request that is answered with a status and a text, and nothing else. */
export class Refusal extends Error {
  readonly status: number;
  /** For the agent's own log. */
  readonly detail: string | undefined;

  constructor(status: number, text: string, detail?: string) {
    super(text);
    this.status = status;
    this.detail = detail;
  }
}
