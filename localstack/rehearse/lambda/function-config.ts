/** A deployed function, as far as running it goes. */
export interface FunctionConfig {
  name: string;
  arn: string;
  handler: string;
  memoryMb: number;
  timeoutMs: number;
  variables: Record<string, string>;
  /** Changes whenever code or configuration do: environments of the former one end. */
  revision: string;
  reservedConcurrency: number | undefined;
}
