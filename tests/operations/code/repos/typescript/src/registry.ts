import { Berth, free } from "./berths.js";
import type { Ship } from "./ships.js";
import type { Store } from "./storage/base.js";
import { MemoryStore } from "./storage/memory.js";

export class Registry {
  constructor(
    private readonly store: Store,
    private readonly berths: readonly Berth[],
  ) {}

  arrive(ship: Ship): Berth {
    for (const berth of free(this.berths)) {
      berth.assign(ship);
      this.store.save(ship.name, String(berth.id));
      return berth;
    }
    throw new Error(`no berth for ${ship.name}: every assign() would fail`);
  }

  leave(name: string): Ship | undefined {
    const id = this.store.load(name);
    return this.berths.find((berth) => String(berth.id) === id)?.release();
  }
}

export const openRegistry = (count: number): Registry =>
  new Registry(
    new MemoryStore(),
    Array.from({ length: count }, (_, id) => new Berth(id)),
  );
