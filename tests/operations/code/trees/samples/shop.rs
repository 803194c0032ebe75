use std::fmt;
pub const LIMIT: usize = 10;
static NAME: &str = "x";
pub type Id = u32;
#[derive(Debug)]
pub struct Client<'a> { host: &'a str, port: u16 }
pub enum Color { Red, Green(u8) }
pub trait Sender { fn send(&self, part: &str); fn close(&self) {} }
impl<'a> Client<'a> {
    pub const MAX: u8 = 1;
    pub fn new(host: &'a str) -> Self { let local = 1; fn inner() {} Client { host, port: 1 } }
}
impl<'a> fmt::Display for Client<'a> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result { Ok(()) }
}
pub async fn main() {}
mod tests { fn one() {} }
macro_rules! shout { () => {}; }
union U { a: u8 }
