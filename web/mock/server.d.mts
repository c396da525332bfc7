export interface MockOptions {
  readonly port?: number;
  /** Where in the ride to begin, seconds. */
  readonly at?: number;
  readonly mode?: 'rooms' | 'call';
}

export interface Mock {
  readonly url: string;
  readonly close: () => Promise<void>;
}

export function startMock(options?: MockOptions): Promise<Mock>;
