import { Berth, BerthTaken, Ship, Tanker, Vessel, describe, openRegistry } from "../src/index.js";

export function testAssign(): void {
  const berth = new Berth(1);
  berth.assign(new Ship("Fram", 39));
  try {
    berth.assign(new Vessel("Gjøa", 21));
  } catch (error) {
    if (!(error instanceof BerthTaken)) throw error;
  }
}

export function testRegistry(): boolean {
  const registry = openRegistry(2);
  registry.arrive(new Tanker("Knock Nevis", 358));
  describe(Ship.parse("Fram:39"));
  return registry.leave("Knock Nevis") !== undefined;
}
