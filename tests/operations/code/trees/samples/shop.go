package shop

import "fmt"

const Limit = 10
const (
	Red = iota
	Green
)

var first, second = 1, 2

type ID = string
type Handler func(int) error
type Client struct {
	Host, Port string
	inner *Client
}
type Sender interface {
	Send(part string) error
}
type (
	A struct{}
	B int
)

func NewClient(host string) *Client { local := 1; return nil }

func (c *Client) Send(part string) error {
	return fmt.Errorf("x")
}
func (s Stack[T]) Push(v T) {}
func Map[T any](xs []T) []T { return xs }
