export interface MockOptions {
  readonly port?: number;
  /** Where in the ride to begin, seconds. */
  readonly at?: number;
  readonly mode?: 'rooms' | 'demo' | 'call';
  /** How many times as fast the ride goes. */
  readonly pace?: number;
  /** Asks for this token; `watch` lets watch, `expired` and `other` are refused as such. */
  readonly token?: string;
}

export interface Mock {
  readonly url: string;
  readonly close: () => Promise<void>;
}

export function startMock(options?: MockOptions): Promise<Mock>;
