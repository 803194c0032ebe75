package shop;
import java.util.List;
public class Shop<T> extends Base implements Sender {
    private static final int LIMIT = 10;
    int first, second;
    public Shop(String host) { int local = 1; }
    @Override
    public <U> List<U> send(U part) throws Exception { return null; }
    enum Color { RED, GREEN { void f() {} }; int rank() { return 1; } }
    interface Sender { void send(); int MAX = 1; }
    record Point(int x, int y) { Point { } int sum() { return x + y; } }
    @interface Marked { String value(); }
}
