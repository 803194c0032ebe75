import x from "./x.js";
export const LIMIT = 10;
let { a, b: [c] } = x;
var old;
export default function main(argument) { function inner() {} const local = 1; }
const arrow = async (p) => { const nested = () => 1; };
function* numbers() { yield 1; }
export class Client extends Base {
  #secret = 1;
  static count = 0;
  handler = (e) => e;
  constructor(host) { super(); }
  async send(part) { return part; }
  get size() { return 1; }
  static of() { return new Client(); }
}
const Anonymous = class { run() {} };
module.exports.helper = function (z) { return z; };
exports.other = (q) => q;
Client.prototype.late = function () {};
export const api = { list() { return 1; }, get: function (id) {} };
