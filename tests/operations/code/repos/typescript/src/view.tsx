import { describe, type Ship } from "./ships.js";

export const title = (ship: Ship): string => describe(ship);
