using System;
namespace Shop.Deep {
    public class Client<T> : Base, ISender where T : class {
        private const int Limit = 10;
        public string Host { get; set; } = "x";
        public event Action Changed;
        public Client(string host) { var local = 1; int Inner() => 1; }
        public async Task<int> Send(T part) => await Go();
        public static bool operator ==(Client<T> a, Client<T> b) => true;
        ~Client() { }
    }
    public interface ISender { void Send(); }
    public struct Point { public int X, Y; }
    public record Person(string Name);
    public enum Color { Red, Green = 2 }
    public delegate void Handler(int a);
}
