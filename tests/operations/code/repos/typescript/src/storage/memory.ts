import type { Store } from "./base.js";

export class MemoryStore implements Store {
  private readonly kept = new Map<string, string>();

  save(key: string, value: string): void {
    this.kept.set(key, value);
  }

  load(key: string): string | undefined {
    return this.kept.get(key);
  }
}
