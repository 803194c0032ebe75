#include <string>
namespace shop::deep {
template <typename T>
class Client : public Base {
public:
  Client(std::string host);
  ~Client() {}
  int send(const T &part) const { return 1; }
  virtual void close() = 0;
  bool operator==(const Client &o) const;
private:
  std::string host_;
  struct Inner { int x; };
};
template <typename T> Client<T>::Client(std::string host) {}
enum class Color { Red, Green };
using Id = int;
constexpr int kLimit = 10;
}
int shop::deep::Other::run(int a) { auto f = [](int x) { return x; }; return f(a); }
extern "C" { void plain(void); }
int main() { return 0; }
