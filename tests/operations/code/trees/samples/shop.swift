import Foundation
let limit = 10
typealias Id = String
protocol Sender { var name: String { get }; func send(_ part: String) throws }
struct Point { let x: Int; var y = 1; func sum() -> Int { return x } }
enum Color: String { case red, green; func rank() -> Int { 1 } }
class Client<T>: Base, Sender {
    private var host: String = "x"
    init(host: String) { let local = 1 }
    deinit {}
    func send(_ part: String) async throws { func inner() {} }
    static func make() -> Client { Client() }
}
extension Client { func extra() {} }
actor Store { func put() {} }
func main() {}
