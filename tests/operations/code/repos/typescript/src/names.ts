import { Ship, describe } from "./ships.js";

export const GREETING = "𝔖hip ahoy"; export const greeted = describe(new Ship("Ærø 🚢", 12));

export const größe = 12;

export function größer(wert: number): number {
  return wert + größe;
}

export function shipLike(): string {
  const ship = "Ship";
  const describe = ship.toLowerCase(); // shadows the function of that name
  return describe;
}
