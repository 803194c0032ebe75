<?php
namespace Shop\Deep;
use Other\Thing;
const LIMIT = 10;
abstract class Client extends Base implements Sender {
    use Helper;
    const MAX = 1;
    private ?string $host = null, $port;
    public function __construct(private int $id) { $local = 1; }
    abstract protected function send(string $part): int;
    public static function of(): static { return new static(); }
}
interface Sender { public function send(string $part): int; }
trait Helper { public function help() {} }
enum Color: string { case Red = "r"; public function label() {} }
function main(array $a): void { function inner() {} }
$handler = fn($x) => $x;
