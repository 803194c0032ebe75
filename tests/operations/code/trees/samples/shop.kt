package shop
import kotlin.math.max
const val LIMIT = 10
typealias Id = String
data class Point(val x: Int, var y: Int) {
    fun sum() = x + y
}
interface Sender { fun send(part: String) }
enum class Color { RED, GREEN;
    fun rank() = 1
}
object Single {
    val name = "x"
}
open class Client(host: String) : Base(host), Sender {
    private val port: Int = 1
    constructor() : this("x")
    override suspend fun send(part: String) {
        val local = 1
        fun inner() {}
    }
    companion object {
        fun make() = Client()
    }
}
fun String.shout(): String = uppercase()
fun main(args: Array<String>) {}
