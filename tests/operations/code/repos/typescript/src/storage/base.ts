export interface Store {
  save(key: string, value: string): void;
  load(key: string): string | undefined;
}

export type Key = keyof Store;
