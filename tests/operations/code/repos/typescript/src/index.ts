export { Berth, BerthTaken } from "./berths.js";
export { Registry, openRegistry } from "./registry.js";
export * from "./ships.js";
export { Ship as Vessel } from "./ships.js";
export type { Store } from "./storage/base.js";
